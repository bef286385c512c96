//! Who did what, when, to what: a row for each change, written in the transaction that made it.
//!
//! Invariant: rows are only added. When a link is purged the detail of its changes, which holds old
//! targets, is emptied; that something was done, when and by whom stays.

use crate::account::{KeyId, UserId};
use crate::clock::Timestamp;
use crate::link::LinkId;
use crate::store::driver::{Step, statements};
use crate::store::value::{Row, Value};
use crate::store::{Error, Store};

statements! {
    INSERT = "insert into changes
            (id, at, user_id, key_id, action, subject_kind, subject_id, detail, client)
        values ($1, $2, $3, $4, $5, 'link', $6, $7, $8)";
    LIST = "select c.id, c.at, c.user_id, c.key_id, c.action, c.detail, c.client, u.email
        from changes c left join users u on u.id = c.user_id
        where c.subject_kind = 'link' and c.subject_id = $1
        order by c.id desc limit $2";
    EMPTY = "update changes set detail = '{}' where subject_kind = 'link' and subject_id = $1
        and exists (select 1 from links where id = $2 and purged_at is not null)";
}

/// A change to be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewChange {
    /// A number from [`Store::take_numbers`].
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// Whose account; `None`: nobody's.
    pub user: Option<UserId>,
    /// With which key, if with one.
    pub key: Option<KeyId>,
    /// What was done: one word.
    pub action: &'static str,
    /// More about it: a JSON object.
    pub detail: String,
    /// From which address, where that is kept.
    pub client: Option<String>,
}

/// A change that was written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChange {
    /// When.
    pub at: Timestamp,
    /// Whose account; `None`: nobody's.
    pub user: Option<UserId>,
    /// With which key, if with one.
    pub key: Option<KeyId>,
    /// What was done.
    pub action: String,
    /// More about it: a JSON object.
    pub detail: String,
    /// From which address, where that is kept.
    pub client: Option<String>,
    /// The address of the account, while it exists.
    pub email: Option<String>,
}

/// The step that writes down a change of `link`.
pub(super) fn step(link: LinkId, change: &NewChange) -> Step {
    Step::new(
        INSERT,
        [
            Value::Int(change.id),
            change.at.into(),
            change.user.map(|user| user.0).into(),
            change.key.map(|key| key.0).into(),
            Value::text(change.action),
            Value::owned(link.to_string()),
            Value::text(&change.detail),
            change.client.as_deref().into(),
        ],
    )
}

/// The step that empties what is known of the changes of a link that is purged.
pub(super) fn empty_step(link: i64) -> Step {
    Step::new(EMPTY, [Value::owned(link.to_string()), Value::Int(link)])
}

impl Store {
    /// The latest changes of a link, newest first.
    pub async fn list_changes(&self, link: LinkId, most: i64) -> Result<Vec<StoredChange>, Error> {
        let params = vec![Value::owned(link.to_string()), Value::Int(most)];
        self.db.list(LIST, params).await?.iter().map(read_change).collect()
    }
}

fn read_change(row: &Row) -> Result<StoredChange, Error> {
    Ok(StoredChange {
        at: row.time(1)?,
        user: row.opt_int(2)?.map(UserId),
        key: row.opt_int(3)?.map(KeyId),
        action: row.text(4)?.to_owned(),
        detail: row.text(5)?.to_owned(),
        client: row.opt_text(6)?.map(str::to_owned),
        email: row.opt_text(7)?.map(str::to_owned),
    })
}
