//! Register, log in, log out, change the password, delete the account.
//!
//! Invariant: a login does not reveal whether an address has an account. An unknown user and a wrong
//! password give the same answer after the same work.

use std::net::IpAddr;

use crate::app::accounts::{self, NewUser, PasswordSet};
use crate::app::{Action, Actor, App, AppError, FieldError, Signup};
use crate::store::{AccountMark, Subject, User};
use kurz_core::account::password::Password;
use kurz_core::account::token::Token;
use kurz_core::account::{Caller, Email, Scope, UserId, access};
use kurz_core::time::Timestamp;

/// Most workspaces that are named to somebody who cannot leave them.
const MOST_STRANDED: i64 = 100;
/// Most accounts whose deletion one cleanup finishes.
const MOST_FINISHED: i64 = 100;

/// What a person sends to register.
#[derive(Clone, Default)]
pub struct Registration {
    /// The address to sign in with.
    pub email: String,
    pub password: String,
    /// What the person is called; may be empty.
    pub name: String,
    pub invite: Option<String>,
}

/// A person as others may see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub id: UserId,
    pub email: Email,
    /// What they are called; may be empty.
    pub name: String,
    pub is_admin: bool,
    pub created_at: Timestamp,
}

impl From<User> for Person {
    fn from(user: User) -> Self {
        Self {
            id: user.id,
            email: user.email,
            name: user.name,
            is_admin: user.admin_at.is_some(),
            created_at: user.created_at,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Session {
    /// What they show from now on.
    pub token: Token,
    pub person: Person,
}

/// A changed password, and what it did to the keys of the account.
#[derive(Clone, Debug)]
pub struct PasswordChange {
    pub session: Session,
    /// API keys that were revoked with it.
    pub revoked_keys: usize,
    /// API keys that still work.
    pub active_keys: i64,
}

impl App {
    /// Whether the server has no administrator yet, as far as the store can tell.
    pub async fn has_no_administrator(&self) -> bool {
        matches!(self.parts.store.has_admin().await, Ok(false))
    }

    /// Register and log in, from `client`.
    pub async fn register(
        &self,
        registration: &Registration,
        client: IpAddr,
    ) -> Result<Session, AppError> {
        let invite = match self.parts.policy.signup {
            Signup::Closed => return Err(AppError::SignupClosed),
            Signup::Invite if registration.invite.is_none() => {
                return Err(AppError::InviteInvalid);
            }
            Signup::Open | Signup::Invite => registration.invite.clone(),
        };
        let mut errors: Vec<FieldError> = Vec::new();
        let email = accounts::read_email(&registration.email).map_err(|e| errors.push(e));
        let name = accounts::read_name(&registration.name).map_err(|e| errors.push(e));
        let password =
            accounts::read_password("password", &registration.password).map_err(|e| errors.push(e));
        let (Ok(email), Ok(name), Ok(password)) = (email, name, password) else {
            return Err(AppError::Invalid(errors));
        };
        let new = NewUser { email, name, password, is_admin: false, invite };
        let actor = Actor::of(&Caller::ANONYMOUS.at(client));
        let user = self.try_sign_up(client, self.accounts.add(new, &actor)).await?;
        Ok(self.session(user))
    }

    /// Log in, from `client`.
    pub async fn log_in(
        &self,
        email: &str,
        password: &str,
        client: IpAddr,
    ) -> Result<Session, AppError> {
        // What cannot be an account's address or password is neither; nothing is learnt from that.
        let address = Email::parse(email).ok();
        let account = address.as_ref().map_or(email, Email::as_str).to_owned();
        let parsed = address.zip(Password::given(password).ok());
        let mut found = None;
        let check = async {
            let Some((email, password)) = parsed else { return Ok(false) };
            let user = self.parts.store.find_user(&email).await?;
            let hash = user.as_ref().map(|user| user.password_hash.as_str());
            let matches = self.accounts.passwords.matches(password, hash).await?;
            found = user.filter(|user| matches && user.disabled_at.is_none());
            Ok(found.is_some())
        };
        self.try_password(&account, Some(client), check).await?;
        found.map(|user| self.session(user)).ok_or(AppError::WrongCredentials)
    }

    /// Log out everywhere: all tokens issued so far become invalid. Keys stay valid.
    pub async fn log_out(&self, caller: &Caller) -> Result<(), AppError> {
        let identity = access::signed_in(caller)?;
        self.parts.store.end_tokens(identity.id, self.parts.clock.now()).await?;
        self.credentials.invalidate_user(&identity.email);
        Ok(())
    }

    pub async fn me(&self, caller: &Caller) -> Result<Person, AppError> {
        let identity = access::to_account(caller, Scope::Read)?;
        let user = self.parts.store.find_user(&identity.email).await?;
        user.map(Person::from).ok_or(AppError::InvalidToken)
    }

    /// Change the password. All tokens but the returned one become invalid; API keys stay valid, unless
    /// `revoke_keys` says otherwise.
    pub async fn change_password(
        &self,
        caller: &Caller,
        current: &str,
        new: &str,
        revoke_keys: bool,
    ) -> Result<PasswordChange, AppError> {
        let new = accounts::read_password("new_password", new)?;
        let mut user = self.confirm(caller, current).await?;
        let set = self.accounts.set_password(user.id, new, revoke_keys, &Actor::of(caller)).await?;
        user.token_version = set.token_version;
        self.credentials.invalidate_user(&user.email);
        let PasswordSet { revoked_keys, active_keys, .. } = set;
        Ok(PasswordChange { session: self.session(user), revoked_keys, active_keys })
    }

    /// Delete the account with its keys and memberships, and its links in `main`. Links in other
    /// workspaces belong to the workspace and stay.
    ///
    /// It is marked first, which ends its sign-ins and keys and lets nothing more be made with it. What is
    /// left to do after that the cleanup does, should this fail or the program stop.
    pub async fn delete_account(&self, caller: &Caller, password: &str) -> Result<(), AppError> {
        let user = self.confirm(caller, password).await?;
        let left = self.audit(caller, Subject::user(user.id), Action::AccountDeleted).await?;
        let now = self.parts.clock.now();
        match self.parts.store.mark_user_deleted(user.id, now, &left).await? {
            AccountMark::Done => {}
            AccountMark::Gone => return Err(AppError::InvalidToken),
            AccountMark::LastAdmin => {
                let workspaces = self.parts.store.list_stranded(user.id, MOST_STRANDED).await?;
                return Err(AppError::LastAdmin { workspaces });
            }
        }
        self.credentials.invalidate_user(&user.email);
        if let Err(error) = self.finish_account_deletion(user.id).await {
            tracing::warn!(%error, user = user.id.0, "the cleanup will delete the rest of an account");
        }
        Ok(())
    }

    /// Delete the links of a marked account, then the account.
    async fn finish_account_deletion(&self, user: UserId) -> Result<(), AppError> {
        loop {
            let now = self.parts.clock.now();
            let links = self.parts.store.delete_own_links(user, now).await?;
            if links.is_empty() {
                break;
            }
            self.invalidate_links(&links).await;
        }
        Ok(self.parts.store.remove_marked_user(user).await?)
    }

    /// Finish what deletions of accounts left, when the program stopped or the store failed meanwhile.
    pub(crate) async fn finish_account_deletions(&self) -> Result<(), AppError> {
        for user in self.parts.store.list_marked_users(MOST_FINISHED).await? {
            self.finish_account_deletion(user).await?;
        }
        Ok(())
    }

    /// The caller, who signed in and knows their password.
    async fn confirm(&self, caller: &Caller, password: &str) -> Result<User, AppError> {
        let identity = access::signed_in(caller)?;
        let user = self.parts.store.find_user(&identity.email).await?;
        let user = user.ok_or(AppError::InvalidToken)?;
        let Ok(password) = Password::given(password) else { return Err(AppError::WrongPassword) };
        let check = self.accounts.passwords.matches(password, Some(&user.password_hash));
        if self.try_password(user.email.as_str(), caller.client, check).await? {
            Ok(user)
        } else {
            Err(AppError::WrongPassword)
        }
    }

    fn session(&self, user: User) -> Session {
        let now = self.parts.clock.now();
        let token = self.parts.tokens.issue(&user.email, user.token_version, now);
        Session { token, person: user.into() }
    }
}
