//! Rate limits at the places where they apply: logins, registrations, new links, calls. The limits
//! themselves are in `limits`.
//!
//! Invariant: only what was done counts. A refused request changes nothing, and costs neither a query nor a
//! password comparison.

use std::net::IpAddr;

use crate::app::{App, AppError, Created, MAIN, Resource};
use kurz_core::account::{Caller, Credential, Identity};
use kurz_core::code::WorkspaceId;
use kurz_core::limits::{Limited, LoginOutcome};

impl App {
    /// Whether `client` may try the password of `account` now, and then whether it is right.
    pub(super) async fn try_password(
        &self,
        account: &str,
        client: Option<IpAddr>,
        check: impl Future<Output = Result<bool, AppError>>,
    ) -> Result<bool, AppError> {
        let Some(client) = client else { return check.await };
        let limits = &self.parts.limits;
        limits.sign_in(account, client, self.parts.clock.steady())?;
        let checked = check.await;
        let outcome = match &checked {
            Ok(true) => LoginOutcome::Right,
            Ok(false) => LoginOutcome::Wrong,
            Err(_) => LoginOutcome::Unknown,
        };
        limits.signed_in(account, client, outcome, self.parts.clock.steady());
        checked
    }

    /// Whether an account may be made from `client`, and then make it.
    pub(super) async fn try_sign_up<T>(
        &self,
        client: IpAddr,
        make: impl Future<Output = Result<T, AppError>>,
    ) -> Result<T, AppError> {
        let limits = &self.parts.limits;
        limits.sign_up(client, self.parts.clock.steady())?;
        let result = make.await;
        if let Err(AppError::Busy | AppError::Store(_)) = &result {
            limits.give_back_sign_up(client, self.parts.clock.steady());
        }
        result
    }

    /// Whether `caller` may make `count` links now. Say afterwards what became of them:
    /// [`Admitted::settle`].
    pub(super) fn admit_links<'a>(
        &'a self,
        caller: &Caller,
        count: usize,
    ) -> Result<Admitted<'a>, AppError> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let now = self.parts.clock.steady();
        let who = match (caller.identity(), caller.client) {
            (Some(identity), _) => Some(Maker::Account(identity.id.0)),
            // On an open server nobody is anonymous.
            (None, Some(client)) if caller.is_anonymous() && !self.parts.policy.open => {
                Some(Maker::ClientAddress(client))
            }
            (None, _) => None,
        };
        match who {
            Some(Maker::Account(id)) => self.parts.limits.links(id, count, now)?,
            Some(Maker::ClientAddress(client)) => self.parts.limits.anonymous_link(client, now)?,
            None => {}
        }
        Ok(Admitted { app: self, who })
    }

    /// Whether somebody may ask for something now.
    pub(super) fn admit_call(&self, identity: &Identity) -> Result<(), AppError> {
        let key = match identity.credential {
            Credential::Key(key) => Some(key.0),
            Credential::Token => None,
        };
        Ok(self.parts.limits.call(identity.id.0, key, self.parts.clock.steady())?)
    }

    /// Count a request of `client` for an unknown short URL, and the error for it.
    pub fn missed(&self, client: IpAddr) -> AppError {
        match self.parts.limits.miss(client, self.parts.clock.steady()) {
            Ok(()) => AppError::NotFound(Resource::Link),
            Err(limited) => limited.into(),
        }
    }

    /// The same for a link that `caller` named in a workspace. Codes of `main` are strangers' codes;
    /// elsewhere, and to an administrator, there is a list of them.
    pub(super) fn missed_in(&self, caller: &Caller, workspace: &WorkspaceId) -> AppError {
        let admin = caller.identity().is_some_and(|identity| identity.is_admin);
        match caller.client.filter(|_| workspace.as_str() == MAIN && !caller.is_open() && !admin) {
            Some(client) => self.missed(client),
            None => AppError::NotFound(Resource::Link),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Maker {
    Account(i64),
    ClientAddress(IpAddr),
}

/// Links that may be made.
pub(super) struct Admitted<'a> {
    app: &'a App,
    who: Option<Maker>,
}

impl Admitted<'_> {
    /// What became of them. Only new links count.
    pub(super) fn settle(
        self,
        asked: usize,
        made: &Result<Vec<Result<Created, AppError>>, AppError>,
    ) {
        let is_new = |one: &&Result<Created, AppError>| matches!(one, Ok(made) if made.is_new);
        self.settle_count(
            asked,
            made.as_ref().map_or(0, |made| made.iter().filter(is_new).count()),
        );
    }

    /// The same, where it is known how many are new.
    pub(super) fn settle_count(self, asked: usize, new: usize) {
        let Ok(left) = u32::try_from(asked.saturating_sub(new)) else { return };
        let (limits, now) = (&self.app.parts.limits, self.app.parts.clock.steady());
        match self.who.filter(|_| left > 0) {
            Some(Maker::Account(id)) => limits.give_back_links(id, left, now),
            Some(Maker::ClientAddress(client)) => limits.give_back_anonymous_link(client, now),
            None => {}
        }
    }
}

impl From<Limited> for AppError {
    fn from(Limited { limit, wait }: Limited) -> Self {
        Self::TooOften { limit, seconds: wait.seconds() }
    }
}
