//! Users: who can sign in. An account that is marked as deleted is not found here.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, NewAuditEntry, Store, audit, keys};
use kurz_core::account::{Email, UserId};
use kurz_core::time::Timestamp;

/// The columns that [`read_user`] reads, of `users u`, from the first one on.
macro_rules! user_columns {
    () => {
        "u.id, u.email, u.name, u.password_hash, u.token_version, u.admin_at, u.disabled_at,
         u.created_at, u.updated_at"
    };
}
pub(super) use user_columns;

statements! {
    /// No row back: the address is taken.
    INSERT = "insert into users (id, email, name, password_hash, token_version, admin_at,
            created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $7) on conflict (email) do nothing returning id";
    FIND = concat!("select ", user_columns!(), " from users u
        where u.email = $1 and u.deleted_at is null");
    LIST = concat!("select ", user_columns!(), " from users u where u.email > $1
        and u.deleted_at is null order by u.email limit $2");
    /// Invalidates tokens issued before: the version only grows, and starts at the time
    /// of registration, so that no version of a deleted account comes again.
    SET_PASSWORD = "update users set password_hash = $1,
            token_version = case when token_version >= $2 then token_version + 1 else $2 end,
            updated_at = $2
        where id = $3 and deleted_at is null returning token_version";
    END_TOKENS = "update users set
            token_version = case when token_version >= $1 then token_version + 1 else $1 end,
            updated_at = $1
        where id = $2 returning token_version";
    DISABLE = "update users set disabled_at = $1, updated_at = $1 where id = $2 returning id";
    ENABLE = "update users set disabled_at = null, updated_at = $1 where id = $2 returning id";
    GRANT_ADMIN = "update users set admin_at = $1, updated_at = $1 where id = $2 returning id";
    FIND_ADMIN = "select id from users where admin_at is not null and deleted_at is null limit 1";
    /// An invitation is good once, for one address, for some time.
    USE_INVITE = "update invites set used_at = $1
        where hash = $2 and email = $3 and used_at is null and expires_at > $1 returning email";
    INSERT_INVITE = "insert into invites (hash, email, created_at, expires_at)
        values ($1, $2, $3, $4)";
}

/// A user who can sign in.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub email: Email,
    /// What they are called; may be empty.
    pub name: String,
    /// The bcrypt hash of their password.
    pub password_hash: String,
    /// Tokens of another version are invalid.
    pub token_version: i64,
    /// Since when they administer the server.
    pub admin_at: Option<Timestamp>,
    /// Since when they may not sign in.
    pub disabled_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "User({} {})", self.id, self.email)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    Done,
    EmailTaken,
    /// The invitation is used, over, or for another address.
    InviteInvalid,
}

impl Store {
    /// Make an account; with `invite`, the hash of an invitation, only if that is good.
    pub async fn insert_user(
        &self,
        user: &User,
        invite: Option<&[u8; 32]>,
        change: &NewAuditEntry,
    ) -> Result<Registered, Error> {
        let mut steps = Vec::with_capacity(3);
        if let Some(hash) = invite {
            let email = SqlValue::text(user.email.as_str());
            let params = [user.created_at.into(), SqlValue::blob(hash), email];
            steps.push(Step::new(USE_INVITE, params).or_undo());
        }
        let params = [
            SqlValue::Int(user.id.0),
            SqlValue::text(user.email.as_str()),
            SqlValue::text(&user.name),
            SqlValue::text(&user.password_hash),
            SqlValue::Int(user.token_version),
            user.admin_at.into(),
            user.created_at.into(),
        ];
        steps.push(Step::new(INSERT, params).or_undo());
        steps.push(audit::step(change));
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => Registered::Done,
            Outcome::Undone(missed) if invite.is_some() && missed.contains(&0) => {
                Registered::InviteInvalid
            }
            Outcome::Undone(_) => Registered::EmailTaken,
        })
    }

    pub async fn find_user(&self, email: &Email) -> Result<Option<User>, Error> {
        let row = self.db.find(FIND, &[SqlValue::text(email.as_str())]).await?;
        row.map(|row| read_user(&row, 0)).transpose()
    }

    /// Users in the order of their addresses, after `after`.
    pub async fn list_users(&self, after: &str, most: i64) -> Result<Vec<User>, Error> {
        let rows = self.db.list(LIST, vec![SqlValue::text(after), SqlValue::Int(most)]).await?;
        rows.iter().map(|row| read_user(row, 0)).collect()
    }

    /// Set a password's hash, end all tokens and, with an entry for that, revoke all keys; the new token
    /// version and how many keys were revoked, or `None` when the account is gone.
    pub async fn set_password(
        &self,
        id: UserId,
        hash: &str,
        now: Timestamp,
        change: &NewAuditEntry,
        revoke_keys: Option<&NewAuditEntry>,
    ) -> Result<Option<(i64, usize)>, Error> {
        let params = [SqlValue::text(hash), now.into(), SqlValue::Int(id.0)];
        let mut steps = vec![Step::new(SET_PASSWORD, params).or_undo(), audit::step(change)];
        if let Some(revoke) = revoke_keys {
            steps.extend([keys::revoke_all_step(id, now), audit::step(revoke)]);
        }
        let Outcome::Done(rows) = self.db.batch(steps).await? else { return Ok(None) };
        let revoked = rows.get(2).map_or(0, Vec::len);
        let version = rows.first().and_then(|rows| rows.first());
        version.map(|row| Ok((row.int(0)?, revoked))).transpose()
    }

    /// End all tokens of a user.
    pub async fn end_tokens(&self, id: UserId, now: Timestamp) -> Result<(), Error> {
        let params = [now.into(), SqlValue::Int(id.0)];
        self.db.write(Step::new(END_TOKENS, params)).await.map(|_| ())
    }

    /// Let a user sign in, or no longer.
    pub async fn set_disabled(
        &self,
        id: UserId,
        disabled: bool,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<(), Error> {
        let sql = if disabled { DISABLE } else { ENABLE };
        let step = Step::new(sql, [now.into(), SqlValue::Int(id.0)]);
        self.write_audited(step, change).await.map(|_| ())
    }

    /// Make a user an administrator of the server.
    pub async fn grant_admin(
        &self,
        id: UserId,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<(), Error> {
        let step = Step::new(GRANT_ADMIN, [now.into(), SqlValue::Int(id.0)]);
        self.write_audited(step, change).await.map(|_| ())
    }

    pub async fn has_admin(&self) -> Result<bool, Error> {
        Ok(!self.db.list(FIND_ADMIN, Vec::new()).await?.is_empty())
    }

    pub async fn insert_invite(
        &self,
        hash: &[u8; 32],
        email: &Email,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<(), Error> {
        let params =
            [SqlValue::blob(hash), SqlValue::text(email.as_str()), now.into(), until.into()];
        self.db.write(Step::new(INSERT_INVITE, params)).await.map(|_| ())
    }
}

/// A user from the columns of `user_columns`, the first of which is the row's `first`.
pub(super) fn read_user(row: &SqlRow, first: usize) -> Result<User, Error> {
    let email = row.text(first + 1)?;
    Ok(User {
        id: UserId(row.int(first)?),
        email: Email::parse(email)
            .map_err(|_| Error::Corrupt(format!("`{email}` is no email address")))?,
        name: row.text(first + 2)?.to_owned(),
        password_hash: row.text(first + 3)?.to_owned(),
        token_version: row.int(first + 4)?,
        admin_at: row.opt_time(first + 5)?,
        disabled_at: row.opt_time(first + 6)?,
        created_at: row.time(first + 7)?,
        updated_at: row.time(first + 8)?,
    })
}
