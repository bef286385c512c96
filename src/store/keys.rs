//! API keys. Of the key itself only its hash is here.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::live_rows::lock_user;
use crate::store::users::{User, read_user, user_columns};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::workspaces::read_id;
use crate::store::{Error, NewAuditEntry, Store, audit};
use kurz_core::account::{KeyId, Scopes, UserId};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

macro_rules! key_columns {
    () => {
        "k.id, k.user_id, k.name, k.prefix, k.scopes, k.workspace, k.created_at, k.expires_at,
         k.last_used_at, k.revoked_at"
    };
}

statements! {
    /// No row back: the user has as many keys as one may have. The user is locked by the step before.
    INSERT = "insert into api_keys (id, user_id, name, hash, prefix, scopes, workspace, created_at,
            expires_at)
        select $1, $2, $3, $4, $5, $6, $7, $8, $9
        where (select count(*) from api_keys where user_id = $2 and revoked_at is null) < $10
        returning id";
    /// Read by every request with a key that is not cached.
    FIND = concat!("select ", key_columns!(), ", ", user_columns!(),
        " from api_keys k join users u on u.id = k.user_id where k.hash = $1");
    LIST = concat!("select ", key_columns!(), " from api_keys k
        where k.user_id = $1 and k.id > $2 and k.revoked_at is null order by k.id limit $3");
    REVOKE = "update api_keys set revoked_at = $1
        where id = $2 and user_id = $3 and revoked_at is null returning hash";
    REVOKE_ALL = "update api_keys set revoked_at = $1
        where user_id = $2 and revoked_at is null returning id";
    COUNT = "select count(*) from api_keys where user_id = $1 and revoked_at is null
        and (expires_at is null or expires_at > $2)";
    TOUCH = "update api_keys set last_used_at = $1 where id = $2";
}

/// An API key, as far as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    pub user: UserId,
    /// Its name, chosen by its owner.
    pub name: String,
    pub prefix: String,
    pub scopes: Scopes,
    /// The only workspace it allows, if it is bound to one.
    pub workspace: Option<WorkspaceId>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// What became of a new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyInsert {
    Done,
    /// The user has as many keys as one may have.
    TooMany,
    /// The account is deleted.
    UserGone,
}

/// The step that revokes all keys of a user.
pub(super) fn revoke_all_step(user: UserId, now: Timestamp) -> Step {
    Step::new(REVOKE_ALL, [now.into(), SqlValue::Int(user.0)])
}

impl Store {
    /// Keep a key under its hash, unless its user has `most` already.
    pub async fn insert_key(
        &self,
        key: &ApiKey,
        hash: &[u8; 32],
        most: i64,
        change: &NewAuditEntry,
    ) -> Result<KeyInsert, Error> {
        let params = [
            SqlValue::Int(key.id.0),
            SqlValue::Int(key.user.0),
            SqlValue::text(&key.name),
            SqlValue::blob(hash),
            SqlValue::text(&key.prefix),
            SqlValue::owned(key.scopes.to_string()),
            key.workspace.as_ref().map(WorkspaceId::as_str).into(),
            key.created_at.into(),
            key.expires_at.into(),
            SqlValue::Int(most),
        ];
        let steps =
            vec![lock_user(key.user), Step::new(INSERT, params).or_undo(), audit::step(change)];
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => KeyInsert::Done,
            Outcome::Undone(missed) if missed.contains(&0) => KeyInsert::UserGone,
            Outcome::Undone(_) => KeyInsert::TooMany,
        })
    }

    /// How many keys of a user work at `now`.
    pub async fn count_keys(&self, user: UserId, now: Timestamp) -> Result<i64, Error> {
        let rows = self.db.list(COUNT, vec![SqlValue::Int(user.0), now.into()]).await?;
        rows.first().map_or(Ok(0), |row| row.int(0))
    }

    /// The key of a hash, and its owner.
    pub async fn find_key(&self, hash: &[u8; 32]) -> Result<Option<(ApiKey, User)>, Error> {
        let row = self.db.find(FIND, &[SqlValue::blob(hash)]).await?;
        row.map(|row| Ok((read_key(&row)?, read_user(&row, 10)?))).transpose()
    }

    /// A user's keys that were not revoked, oldest first, after `after`.
    pub async fn list_keys(
        &self,
        user: UserId,
        after: KeyId,
        most: i64,
    ) -> Result<Vec<ApiKey>, Error> {
        let params = vec![SqlValue::Int(user.0), SqlValue::Int(after.0), SqlValue::Int(most)];
        self.db.list(LIST, params).await?.iter().map(read_key).collect()
    }

    /// Revoke a key; its hash, or `None` when the user has no such key.
    pub async fn revoke_key(
        &self,
        user: UserId,
        id: KeyId,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<Option<Vec<u8>>, Error> {
        let params = [now.into(), SqlValue::Int(id.0), SqlValue::Int(user.0)];
        let rows = self.write_audited(Step::new(REVOKE, params), change).await?;
        rows.first().map(|row| row.blob(0).map(<[u8]>::to_vec)).transpose()
    }

    /// Write down that a key was used.
    pub async fn touch_key(&self, id: KeyId, now: Timestamp) -> Result<(), Error> {
        self.db.write(Step::new(TOUCH, [now.into(), SqlValue::Int(id.0)])).await.map(|_| ())
    }
}

fn read_key(row: &SqlRow) -> Result<ApiKey, Error> {
    let scopes = row.text(4)?;
    Ok(ApiKey {
        id: KeyId(row.int(0)?),
        user: UserId(row.int(1)?),
        name: row.text(2)?.to_owned(),
        prefix: row.text(3)?.to_owned(),
        scopes: scopes
            .parse()
            .map_err(|()| Error::Corrupt(format!("`{scopes}` is no set of scopes")))?,
        workspace: row.opt_text(5)?.map(read_id).transpose()?,
        created_at: row.time(6)?,
        expires_at: row.opt_time(7)?,
        last_used_at: row.opt_time(8)?,
        revoked_at: row.opt_time(9)?,
    })
}
