//! What is to be done to events that are there: details to remove, and what a narrower mode does not keep.

use crate::store::driver::{Step, statements};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::workspaces::read_id;
use crate::store::{Error, NewAuditEntry, Store, audit};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

statements! {
    INSERT = "insert into event_tasks
            (id, kind, workspace, link_id, from_time, to_time, requested_at)
        values ($1, $2, $3, $4, $5, $6, $7)";
    /// Unless the workspace has one that waits.
    INSERT_PURGE = "insert into event_tasks
            (id, kind, workspace, link_id, from_time, to_time, requested_at)
        select cast($1 as bigint), 'purge', cast($2 as text), cast(null as bigint), 0,
            cast($3 as bigint), cast($3 as bigint)
        where not exists (select 1 from event_tasks
            where kind = 'purge' and workspace = cast($2 as text))";
    LIST = "select id, kind, workspace, link_id, from_time, to_time, requested_at
        from event_tasks where requested_at <= $1 and kind <> 'copy' order by id limit $2";
    COPIES = "select id, kind, workspace, link_id, from_time, to_time, requested_at
        from event_tasks where requested_at <= $1 and kind = 'copy' order by id limit $2";
    OF_WORKSPACE = "select id from event_tasks where workspace = $1 limit 1";
    REMOVE = "delete from event_tasks where id = $1";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTaskKind {
    /// Remove details; the number of clicks stays.
    Delete,
    /// Remove what the modes of the workspace and its links do not keep.
    Narrow,
    /// Remove the sums of links that were purged.
    Purge,
    /// Bring the copy of the events outside of the store up to date.
    Copy,
}

impl EventTaskKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Narrow => "narrow",
            Self::Purge => "purge",
            Self::Copy => "copy",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTask {
    /// A number from `take_numbers("event_task", ..)`.
    pub id: i64,
    pub kind: EventTaskKind,
    pub workspace: WorkspaceId,
    /// `None`: all links.
    pub link: Option<LinkId>,
    /// Events from this time on, and before the other.
    pub from: Timestamp,
    pub to: Timestamp,
    pub requested_at: Timestamp,
}

impl Store {
    /// Store a task, and the entry of the audit log about it.
    pub async fn insert_event_task(
        &self,
        task: &EventTask,
        change: Option<&NewAuditEntry>,
    ) -> Result<(), Error> {
        let steps = [task_step(task)].into_iter().chain(change.map(audit::step));
        self.db.batch(steps.collect()).await.map(|_| ())
    }

    /// Have the sums of a workspace's purged links removed at `due`, unless that is to be done already.
    pub async fn insert_purge_task(
        &self,
        id: i64,
        workspace: &WorkspaceId,
        due: Timestamp,
    ) -> Result<(), Error> {
        let params = [SqlValue::Int(id), SqlValue::text(workspace.as_str()), due.into()];
        self.db.write(Step::new(INSERT_PURGE, params)).await.map(|_| ())
    }

    /// Tasks about the copy of events that were requested up to `until`, oldest first.
    pub async fn list_copy_tasks(
        &self,
        until: Timestamp,
        most: i64,
    ) -> Result<Vec<EventTask>, Error> {
        let rows = self.db.list(COPIES, vec![until.into(), SqlValue::Int(most)]).await?;
        rows.iter().map(read).collect()
    }

    /// Whether anything is to be done to the events of a workspace.
    pub async fn has_event_tasks(&self, workspace: &WorkspaceId) -> Result<bool, Error> {
        let found = self.db.find(OF_WORKSPACE, &[SqlValue::text(workspace.as_str())]).await?;
        Ok(found.is_some())
    }

    /// Tasks about the events themselves that were requested up to `until`, oldest first.
    pub async fn list_event_tasks(
        &self,
        until: Timestamp,
        most: i64,
    ) -> Result<Vec<EventTask>, Error> {
        let rows = self.db.list(LIST, vec![until.into(), SqlValue::Int(most)]).await?;
        rows.iter().map(read).collect()
    }

    pub async fn finish_event_task(&self, id: i64) -> Result<(), Error> {
        self.db.write(Step::new(REMOVE, [SqlValue::Int(id)])).await.map(|_| ())
    }
}

pub(super) fn task_step(task: &EventTask) -> Step {
    let params = [
        SqlValue::Int(task.id),
        SqlValue::text(task.kind.as_str()),
        SqlValue::text(task.workspace.as_str()),
        task.link.map(|link| link.0).into(),
        task.from.into(),
        task.to.into(),
        task.requested_at.into(),
    ];
    Step::new(INSERT, params)
}

fn read(row: &SqlRow) -> Result<EventTask, Error> {
    let kind = match row.text(1)? {
        "delete" => EventTaskKind::Delete,
        "narrow" => EventTaskKind::Narrow,
        "purge" => EventTaskKind::Purge,
        "copy" => EventTaskKind::Copy,
        other => return Err(Error::Corrupt(format!("`{other}` is no task about events"))),
    };
    Ok(EventTask {
        id: row.int(0)?,
        kind,
        workspace: read_id(row.text(2)?)?,
        link: row.opt_int(3)?.map(LinkId),
        from: row.time(4)?,
        to: row.time(5)?,
        requested_at: row.time(6)?,
    })
}
