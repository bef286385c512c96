//! Sessions of browsers. Of the secret in the cookie only its hash is here.
//!
//! Invariant: a session is valid only while the user's token version is what it was at sign-in, so
//! a new password and signing out everywhere end all of them without touching this table.

use crate::store::driver::{Step, statements};
use crate::store::live_rows::live_user;
use crate::store::users::{User, read_user, user_columns};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::account::UserId;
use kurz_core::time::Timestamp;

macro_rules! session_columns {
    () => {
        "s.hash, s.agent, s.created_at, s.seen_at, s.expires_at"
    };
}

statements! {
    INSERT = "insert into sessions (hash, user_id, token_version, agent, created_at, seen_at,
            expires_at) values ($1, $2, $3, $4, $5, $5, $6)";
    /// Read by every page of a signed-in user whose session is not cached.
    FIND = concat!("select ", session_columns!(), ", ", user_columns!(), " from sessions s
        join users u on u.id = s.user_id and u.token_version = s.token_version
        where s.hash = $1 and s.expires_at > $2 and u.disabled_at is null");
    LIST = concat!("select ", session_columns!(), " from sessions s
        join users u on u.id = s.user_id and u.token_version = s.token_version
        where s.user_id = $1 and s.expires_at > $2 order by s.created_at desc limit $3");
    TOUCH = "update sessions set seen_at = $1 where hash = $2";
    END = "delete from sessions where hash = $1 and user_id = $2 returning hash";
    /// Some expired ones: each sign-in removes a few.
    SWEEP = "delete from sessions where hash in
        (select hash from sessions where expires_at <= $1 order by expires_at limit $2)";
}

/// Most expired sessions that one sign-in removes.
const SWEPT: i64 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserSession {
    /// SHA-256 of its secret.
    pub hash: [u8; 32],
    pub agent: String,
    pub created_at: Timestamp,
    /// When it was last seen, give or take some minutes.
    pub seen_at: Timestamp,
    pub expires_at: Timestamp,
}

impl Store {
    /// Keep a session of `user`.
    pub async fn insert_session(&self, user: &User, new: &BrowserSession) -> Result<(), Error> {
        let sweep = Step::new(SWEEP, [new.created_at.into(), SqlValue::Int(SWEPT)]);
        let params = [
            SqlValue::blob(&new.hash),
            SqlValue::Int(user.id.0),
            SqlValue::Int(user.token_version),
            SqlValue::text(&new.agent),
            new.created_at.into(),
            new.expires_at.into(),
        ];
        self.db.batch(vec![live_user(user.id), sweep, Step::new(INSERT, params)]).await.map(|_| ())
    }

    /// A session that is valid at `now`, and its user.
    pub async fn find_session(
        &self,
        hash: &[u8; 32],
        now: Timestamp,
    ) -> Result<Option<(BrowserSession, User)>, Error> {
        let row = self.db.find(FIND, &[SqlValue::blob(hash), now.into()]).await?;
        row.map(|row| Ok((read_session(&row)?, read_user(&row, 5)?))).transpose()
    }

    /// The newest sessions of a user that are valid at `now`.
    pub async fn list_sessions(
        &self,
        user: UserId,
        now: Timestamp,
        most: i64,
    ) -> Result<Vec<BrowserSession>, Error> {
        let params = vec![SqlValue::Int(user.0), now.into(), SqlValue::Int(most)];
        self.db.list(LIST, params).await?.iter().map(read_session).collect()
    }

    /// Write down that a session was seen.
    pub async fn touch_session(&self, hash: &[u8; 32], now: Timestamp) -> Result<(), Error> {
        self.db.write(Step::new(TOUCH, [now.into(), SqlValue::blob(hash)])).await.map(|_| ())
    }

    /// End a session of `user`; `false` when there is no such one.
    pub async fn end_session(&self, user: UserId, hash: &[u8; 32]) -> Result<bool, Error> {
        let params = [SqlValue::blob(hash), SqlValue::Int(user.0)];
        Ok(!self.db.write(Step::new(END, params)).await?.is_empty())
    }
}

fn read_session(row: &SqlRow) -> Result<BrowserSession, Error> {
    Ok(BrowserSession {
        hash: row
            .blob(0)?
            .try_into()
            .map_err(|_| Error::Corrupt("the hash of a session has a wrong length".to_owned()))?,
        agent: row.text(1)?.to_owned(),
        created_at: row.time(2)?,
        seen_at: row.time(3)?,
        expires_at: row.time(4)?,
    })
}
