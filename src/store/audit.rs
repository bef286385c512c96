//! The audit log: who did what, when, to what. An entry is written in the transaction that makes its
//! change.
//!
//! Invariant: rows are only added. When a link is purged the detail of its changes, which holds old
//! targets, is emptied, unless the link was disabled; that something was done, when and by whom stays.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::locks::HeldLock;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::account::{Email, KeyId, UserId};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// Entries, with the name of their subject where that still exists.
macro_rules! audit {
    ($which:literal) => {
        concat!(
            "select c.id, c.at, c.user_id, c.key_id, c.action, c.detail, c.client, u.email,
            c.subject_kind, coalesce(l.workspace || '/' || l.code, s.email, c.subject_id)
        from audit c left join users u on u.id = c.user_id
            left join links l on l.id =
                case when c.subject_kind = 'link' then cast(c.subject_id as bigint) end
            left join users s on s.id =
                case when c.subject_kind = 'user' then cast(c.subject_id as bigint) end
        where ",
            $which
        )
    };
}

/// The creation of links, in the shape of entries.
macro_rules! made {
    ($which:literal) => {
        concat!(
            "select l.id, l.created_at, l.owner_id, l.made_key, 'created', '{}', l.made_from, u.email,
            'link', l.workspace || '/' || l.code
        from links l left join users u on u.id = l.owner_id where ",
            $which
        )
    };
}

statements! {
    INSERT = "insert into audit
            (id, at, user_id, key_id, action, subject_kind, subject_id, detail, client)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    LIST = "select c.id, c.at, c.user_id, c.key_id, c.action, c.detail, c.client, u.email,
            c.subject_kind, c.subject_id
        from audit c left join users u on u.id = c.user_id
        where c.subject_kind = 'link' and c.subject_id = $1
        order by c.id desc limit $2";
    AUDIT = audit!("(c.at, c.id) < ($1, $2) and (cast($3 as text) is null or c.action = $3)
        and (cast($4 as text) is null or c.subject_kind = $4)
        order by c.at desc, c.id desc limit $5");
    AUDIT_OF_USER = audit!("c.user_id = $1 and (c.at, c.id) < ($2, $3)
        and (cast($4 as text) is null or c.action = $4)
        and (cast($5 as text) is null or c.subject_kind = $5)
        order by c.at desc, c.id desc limit $6");
    /// The creation of a link is in its own row: an entry for each would make creation more expensive.
    MADE = made!("l.alias_of is null and (l.created_at, l.id) < ($1, $2)
        order by l.created_at desc, l.id desc limit $3");
    MADE_BY_USER = made!("l.list_scope = $1 and l.alias_of is null and (l.created_at, l.id) < ($2, $3)
        order by l.created_at desc, l.id desc limit $4");
    RETIRE = "delete from audit
        where id in (select id from audit where at < $1 order by at limit $2) returning id";
    /// Why a link was disabled stays for as long as the log is kept.
    EMPTY = "update audit set detail = '{}' where subject_kind = 'link' and subject_id = $1
        and action <> 'disabled'
        and exists (select 1 from links where id = $2 and purged_at is not null)";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAuditEntry {
    /// A number from [`Store::take_numbers`].
    pub id: i64,
    pub at: Timestamp,
    /// The account; `None`: without one.
    pub user: Option<UserId>,
    /// With which key, if with one.
    pub key: Option<KeyId>,
    /// What was done: one word.
    pub action: &'static str,
    pub subject: Subject,
    /// More about it: a JSON object.
    pub detail: String,
    /// From which address, where that is kept.
    pub client: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    kind: &'static str,
    id: String,
}

impl Subject {
    pub fn link(link: LinkId) -> Self {
        Self { kind: "link", id: link.to_string() }
    }

    pub fn user(user: UserId) -> Self {
        Self { kind: "user", id: user.to_string() }
    }

    pub fn key(key: KeyId) -> Self {
        Self { kind: "key", id: key.0.to_string() }
    }

    pub fn workspace(workspace: &WorkspaceId) -> Self {
        Self { kind: "workspace", id: workspace.to_string() }
    }

    pub fn member(workspace: &WorkspaceId, email: &Email) -> Self {
        Self { kind: "member", id: format!("{workspace}/{email}") }
    }

    pub fn host(workspace: &WorkspaceId, host: &str) -> Self {
        Self { kind: "host", id: format!("{workspace}/{host}") }
    }
}

/// Which entries, and from where on back in time.
#[derive(Clone, Debug)]
pub struct AuditQuery {
    pub user: Option<UserId>,
    pub action: Option<String>,
    pub kind: Option<String>,
    /// Before this time, and this number at the same time.
    pub before: (Timestamp, i64),
    /// At most so many.
    pub most: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    pub id: i64,
    pub at: Timestamp,
    /// The account; `None`: without one.
    pub user: Option<UserId>,
    /// With which key, if with one.
    pub key: Option<KeyId>,
    pub action: String,
    /// More about it: a JSON object.
    pub detail: String,
    /// From which address, where that is kept.
    pub client: Option<String>,
    /// The address of the account, while it exists.
    pub email: Option<String>,
    /// The kind of thing it was done to, and what that is called.
    pub subject: (String, String),
}

/// The step that writes an entry.
pub(super) fn step(change: &NewAuditEntry) -> Step {
    Step::new(
        INSERT,
        [
            SqlValue::Int(change.id),
            change.at.into(),
            change.user.map(|user| user.0).into(),
            change.key.map(|key| key.0).into(),
            SqlValue::text(change.action),
            SqlValue::text(change.subject.kind),
            SqlValue::text(&change.subject.id),
            SqlValue::text(&change.detail),
            change.client.as_deref().into(),
        ],
    )
}

/// The step that empties the details of a purged link's entries.
pub(super) fn empty_step(link: i64) -> Step {
    Step::new(EMPTY, [SqlValue::owned(link.to_string()), SqlValue::Int(link)])
}

impl Store {
    /// Do a step and write its entry, or neither when the step gives no row; its rows.
    pub(super) async fn write_audited(
        &self,
        step: Step,
        change: &NewAuditEntry,
    ) -> Result<Vec<SqlRow>, Error> {
        match self.db.batch(vec![step.or_undo(), self::step(change)]).await? {
            Outcome::Done(rows) => Ok(rows.into_iter().next().unwrap_or_default()),
            Outcome::Undone(_) => Ok(Vec::new()),
        }
    }

    /// Write the entry of a change that is made already.
    pub async fn insert_audit(&self, change: &NewAuditEntry) -> Result<(), Error> {
        self.db.write(step(change)).await.map(|_| ())
    }

    /// Entries of all kinds but the creation of links, newest first.
    pub async fn list_audit(&self, query: &AuditQuery) -> Result<Vec<AuditRow>, Error> {
        let (at, id) = query.before;
        let rest = [
            at.into(),
            SqlValue::Int(id),
            query.action.as_deref().into(),
            query.kind.as_deref().into(),
            SqlValue::Int(query.most),
        ];
        let rows = match query.user {
            None => self.db.list(AUDIT, rest.to_vec()).await?,
            Some(user) => {
                let params = std::iter::once(SqlValue::Int(user.0)).chain(rest).collect();
                self.db.list(AUDIT_OF_USER, params).await?
            }
        };
        rows.iter().map(read_change).collect()
    }

    /// Creations of links, newest first; with a user, theirs in `main`.
    pub async fn list_created(&self, query: &AuditQuery) -> Result<Vec<AuditRow>, Error> {
        let (at, id) = query.before;
        let (id, most) = (SqlValue::Int(id), SqlValue::Int(query.most));
        let rows = match query.user {
            None => self.db.list(MADE, vec![at.into(), id, most]).await?,
            Some(user) => {
                let list = SqlValue::owned(format!("main/{user}"));
                self.db.list(MADE_BY_USER, vec![list, at.into(), id, most]).await?
            }
        };
        rows.iter().map(read_change).collect()
    }

    /// Remove at most `most` entries from before `end`, or `None` when the lock was lost; whether there
    /// may be more.
    pub async fn purge_audit(
        &self,
        holding: &HeldLock,
        end: Timestamp,
        most: i64,
        now: Timestamp,
    ) -> Result<Option<bool>, Error> {
        let retire = Step::new(RETIRE, [end.into(), SqlValue::Int(most)]);
        match self.db.batch(vec![self.fence(holding, now), retire]).await? {
            Outcome::Undone(_) => Ok(None),
            Outcome::Done(rows) => {
                let gone = rows.last().map_or(0, Vec::len);
                Ok(Some(i64::try_from(gone).unwrap_or(i64::MAX) >= most))
            }
        }
    }

    /// The latest entries of a link, newest first.
    pub async fn list_link_audit(&self, link: LinkId, most: i64) -> Result<Vec<AuditRow>, Error> {
        let params = vec![SqlValue::owned(link.to_string()), SqlValue::Int(most)];
        self.db.list(LIST, params).await?.iter().map(read_change).collect()
    }
}

fn read_change(row: &SqlRow) -> Result<AuditRow, Error> {
    Ok(AuditRow {
        id: row.int(0)?,
        at: row.time(1)?,
        user: row.opt_int(2)?.map(UserId),
        key: row.opt_int(3)?.map(KeyId),
        action: row.text(4)?.to_owned(),
        detail: row.text(5)?.to_owned(),
        client: row.opt_text(6)?.map(str::to_owned),
        email: row.opt_text(7)?.map(str::to_owned),
        subject: (row.text(8)?.to_owned(), row.text(9)?.to_owned()),
    })
}
