//! The accounts of a store: users, keys and invitations. The API uses it for a caller, the command line for
//! the operator. It knows nothing of links, so that the command line needs no [`App`](crate::app::App).

pub(crate) mod credential_cache;
mod identity;
pub(crate) mod keys;
pub(crate) mod login;
pub(crate) mod passwords;
pub(crate) mod sessions;

use std::sync::Arc;
use std::time::Duration;

use crate::app::accounts::passwords::Passwords;
use crate::app::{Action, Actor, AppError, AuditDetail, FieldError, Resource};
use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::store::{ApiKey, NewAuditEntry, Registered, Store, Subject, User};
use kurz_core::account::password::Password;
use kurz_core::account::{Email, Scopes, UserId, claim, user};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

/// How long an invitation is good.
const INVITE_LIFE: Duration = Duration::from_hours(7 * 24);
const PAGE: i64 = 500;

#[derive(Clone, Debug)]
pub struct Accounts {
    pub store: Arc<Store>,
    pub clock: Clock,
    /// Random bytes.
    pub entropy: Entropy,
    pub passwords: Arc<Passwords>,
}

#[derive(Clone, Debug)]
pub struct NewUser {
    /// The address to sign in with.
    pub email: Email,
    /// What the person is called; may be empty.
    pub name: String,
    pub password: Password,
    pub is_admin: bool,
    /// An invitation that must be good.
    pub invite: Option<String>,
}

/// What setting a password did.
#[derive(Clone, Copy, Debug)]
pub struct PasswordSet {
    /// Tokens of another version are invalid.
    pub token_version: i64,
    /// Keys that were revoked with it.
    pub revoked_keys: usize,
    /// Keys that still work.
    pub active_keys: i64,
}

#[derive(Clone, Debug)]
pub struct NewKey {
    pub name: String,
    pub scopes: Scopes,
    /// The only workspace it is good for.
    pub workspace: Option<WorkspaceId>,
    pub expires_at: Option<Timestamp>,
}

/// A key that was just made; the only time that it is shown.
#[derive(Clone)]
pub struct FreshKey {
    pub secret: String,
    pub key: ApiKey,
}

impl std::fmt::Debug for FreshKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FreshKey({:?})", self.key)
    }
}

pub fn read_email(text: &str) -> Result<Email, FieldError> {
    Email::parse(text).map_err(|error| FieldError::new("email", error.code(), error))
}

pub fn read_name(text: &str) -> Result<String, FieldError> {
    user::name(text).map_err(|error| FieldError::new("name", error.code(), error))
}

/// Read a password that is to be set.
pub fn read_password(field: &'static str, text: &str) -> Result<Password, FieldError> {
    Password::parse(text).map_err(|error| FieldError::new(field, error.code(), error))
}

impl Accounts {
    pub async fn add(&self, new: NewUser, actor: &Actor) -> Result<User, AppError> {
        // An invitation that cannot be one finds none.
        let invite = new.invite.as_deref();
        let invite = invite.map(|token| claim::hash(token).ok_or(AppError::InviteInvalid));
        let invite = invite.transpose()?;
        let password_hash = self.passwords.hash(new.password).await?;
        let now = self.clock.now();
        let user = User {
            id: UserId(self.store.take_numbers("user", 1).await?),
            email: new.email,
            name: new.name,
            password_hash,
            token_version: now.as_ms(),
            admin_at: new.is_admin.then_some(now),
            disabled_at: None,
            created_at: now,
            updated_at: now,
        };
        let change = self.audit(actor, Subject::user(user.id), Action::Registered).await?;
        match self.store.insert_user(&user, invite.as_ref(), &change).await? {
            Registered::Done => Ok(user),
            Registered::EmailTaken => Err(AppError::EmailTaken),
            Registered::InviteInvalid => Err(AppError::InviteInvalid),
        }
    }

    pub async fn find(&self, email: &Email) -> Result<User, AppError> {
        self.store.find_user(email).await?.ok_or(AppError::NotFound(Resource::User))
    }

    /// All users, by address, a page at a time to `each`.
    pub async fn for_each(
        &self,
        mut each: impl FnMut(&User) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let mut after = String::new();
        loop {
            let page = self.store.list_users(&after, PAGE).await?;
            page.iter().try_for_each(&mut each)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.email.to_string();
        }
    }

    /// Set a password and end all tokens; with `revoke_keys` revoke all keys as well.
    pub async fn set_password(
        &self,
        id: UserId,
        password: Password,
        revoke_keys: bool,
        actor: &Actor,
    ) -> Result<PasswordSet, AppError> {
        let hash = self.passwords.hash(password).await?;
        let change = self.audit(actor, Subject::user(id), Action::PasswordChanged).await?;
        let revoke = if revoke_keys {
            Some(self.audit(actor, Subject::user(id), Action::KeysRevoked).await?)
        } else {
            None
        };
        let now = self.clock.now();
        let set = self.store.set_password(id, &hash, now, &change, revoke.as_ref()).await?;
        let (token_version, revoked) = set.ok_or(AppError::NotFound(Resource::User))?;
        let active_keys = self.store.count_keys(id, now).await?;
        Ok(PasswordSet { token_version, revoked_keys: revoked, active_keys })
    }

    /// Disable a user, or enable one again. The logins, tokens and keys of a disabled user are refused.
    pub async fn set_disabled(
        &self,
        email: &Email,
        disabled: bool,
        actor: &Actor,
    ) -> Result<(), AppError> {
        let user = self.find(email).await?;
        let action = if disabled { Action::Disabled } else { Action::Enabled };
        let change = self.audit(actor, Subject::user(user.id), action).await?;
        Ok(self.store.set_disabled(user.id, disabled, self.clock.now(), &change).await?)
    }

    /// Make a user an administrator of the server.
    pub async fn grant_admin(&self, email: &Email, actor: &Actor) -> Result<(), AppError> {
        let user = self.find(email).await?;
        let change = self.audit(actor, Subject::user(user.id), Action::Promoted).await?;
        Ok(self.store.grant_admin(user.id, self.clock.now(), &change).await?)
    }

    /// An invitation for one address; the only time that it is shown, and its end.
    pub async fn invite(&self, email: &Email) -> Result<(String, Timestamp), AppError> {
        if self.store.find_user(email).await?.is_some() {
            return Err(AppError::EmailTaken);
        }
        let token = claim::fresh(&mut |bytes| self.entropy.fill(bytes));
        let hash = claim::hash(&token).ok_or(AppError::InviteInvalid)?;
        let now = self.clock.now();
        let until = now.plus(INVITE_LIFE);
        self.store.insert_invite(&hash, email, now, until).await?;
        Ok((token, until))
    }

    pub(super) async fn audit(
        &self,
        actor: &Actor,
        subject: Subject,
        action: Action,
    ) -> Result<NewAuditEntry, AppError> {
        let id = self.store.take_numbers("change", 1).await?;
        Ok(actor.audit((id, self.clock.now()), subject, action, &AuditDetail::default()))
    }
}
