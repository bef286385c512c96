//! Hosts that workspaces named and that are not proven, and how a host comes to be a workspace's own.
//!
//! Invariant: a workspace has at most so many hosts, pending ones included, whatever runs at the same
//! time: every step that adds one first locks the row of the workspace.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::workspaces::{host_step, read_host, read_id};
use crate::store::{Error, Host, NewAuditEntry, Store, audit};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

statements! {
    /// Changes nothing: until the end of the transaction no other can add a host to the workspace. A
    /// statement after this one sees what the others added before.
    LOCK_WORKSPACE = "update workspaces set updated_at = updated_at
        where id = $1 and deleted_at is null returning id";
    /// A row when the workspace may have one host more.
    HAS_ROOM = "select cast(1 as bigint) where (select count(*) from hosts where workspace = $1)
        + (select count(*) from pending_hosts where workspace = $1) < $2";
    INSERT_PENDING = "insert into pending_hosts (workspace, host, token, created_at)
        values ($1, $2, $3, $4) on conflict (workspace, host) do nothing returning host";
    FIND_PENDING = "select workspace, host, token, created_at from pending_hosts
        where workspace = $1 and host = $2";
    LIST_PENDING = "select workspace, host, token, created_at from pending_hosts
        where workspace = $1 order by created_at, host limit $2";
    DELETE_PENDING = "delete from pending_hosts where workspace = $1 and host = $2 returning host";
    DELETE_ALL_PENDING = "delete from pending_hosts where workspace = $1";
    /// No row: it was checked just now.
    START_CHECK = "update pending_hosts set checked_at = $1 where workspace = $2 and host = $3
        and (checked_at is null or checked_at <= $4 or checked_at > $1) returning host";
    FIND_HOST = "select host, workspace, created_at, home_url, not_found_url, invalid_code_url
        from hosts where host = $1";
}

const HOSTS: i64 = 100;

/// A host that a workspace named and has not proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingHost {
    /// The name, in lower case.
    pub host: String,
    pub workspace: WorkspaceId,
    /// What the owner of the name publishes to prove that it is theirs.
    pub token: String,
    pub created_at: Timestamp,
}

/// What became of a host that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostAdded {
    Done,
    /// It is a workspace's already: this one's, or another's.
    Taken,
    /// The workspace has as many hosts as it may.
    TooMany,
    /// The workspace does not exist, or did not name the host.
    Missing,
}

impl Store {
    /// The workspace that a host belongs to, and since when.
    pub async fn find_host(&self, host: &str) -> Result<Option<Host>, Error> {
        let row = self.db.find(FIND_HOST, &[SqlValue::text(host)]).await?;
        row.map(|row| read_host(&row)).transpose()
    }

    pub async fn find_pending_host(
        &self,
        workspace: &WorkspaceId,
        host: &str,
    ) -> Result<Option<PendingHost>, Error> {
        let params = [SqlValue::text(workspace.as_str()), SqlValue::text(host)];
        self.db.find(FIND_PENDING, &params).await?.map(|row| read_pending(&row)).transpose()
    }

    /// The hosts that a workspace has not proven, oldest first.
    pub async fn list_pending_hosts(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<Vec<PendingHost>, Error> {
        let params = vec![SqlValue::text(workspace.as_str()), SqlValue::Int(HOSTS)];
        self.db.list(LIST_PENDING, params).await?.iter().map(read_pending).collect()
    }

    /// Note a host that is to be proven, if the workspace has fewer than `most`.
    pub async fn insert_pending_host(
        &self,
        pending: &PendingHost,
        most: i64,
        change: &NewAuditEntry,
    ) -> Result<HostAdded, Error> {
        let insert = [
            SqlValue::text(pending.workspace.as_str()),
            SqlValue::text(&pending.host),
            SqlValue::text(&pending.token),
            pending.created_at.into(),
        ];
        let steps = vec![
            lock_step(&pending.workspace),
            room_step(&pending.workspace, most),
            Step::new(INSERT_PENDING, insert).or_undo(),
            audit::step(change),
        ];
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => HostAdded::Done,
            Outcome::Undone(missed) if missed.contains(&0) => HostAdded::Missing,
            // Before the room: who names a host twice needs no room for it.
            Outcome::Undone(missed) if missed.contains(&2) => HostAdded::Taken,
            Outcome::Undone(_) => HostAdded::TooMany,
        })
    }

    /// Give a host to a workspace. The first workspace that gets here keeps it.
    pub async fn insert_host_within(
        &self,
        host: &Host,
        most: i64,
        change: &NewAuditEntry,
    ) -> Result<HostAdded, Error> {
        let steps = vec![
            lock_step(&host.workspace),
            delete_step(&host.workspace, &host.host),
            host_step(host).or_undo(),
            // After the insert, which counts as well: one more than there may be before it.
            room_step(&host.workspace, most.saturating_add(1)),
            audit::step(change),
        ];
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => HostAdded::Done,
            Outcome::Undone(missed) if missed.contains(&0) => HostAdded::Missing,
            Outcome::Undone(missed) if missed.contains(&2) => HostAdded::Taken,
            Outcome::Undone(_) => HostAdded::TooMany,
        })
    }

    /// Give a pending host to its workspace. The first workspace that gets here keeps it.
    pub async fn activate_host(
        &self,
        host: &Host,
        change: &NewAuditEntry,
    ) -> Result<HostAdded, Error> {
        let steps = vec![
            lock_step(&host.workspace),
            delete_step(&host.workspace, &host.host).or_undo(),
            host_step(host).or_undo(),
            audit::step(change),
        ];
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => HostAdded::Done,
            Outcome::Undone(missed) if missed.contains(&0) || missed.contains(&1) => {
                HostAdded::Missing
            }
            Outcome::Undone(_) => HostAdded::Taken,
        })
    }

    /// Forget a pending host; `false` when the workspace has none of this name.
    pub async fn delete_pending_host(
        &self,
        workspace: &WorkspaceId,
        host: &str,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        Ok(!self.write_audited(delete_step(workspace, host), change).await?.is_empty())
    }

    /// Note that a pending host is checked at `now`; `false` when it was checked after `before`.
    pub async fn start_host_check(
        &self,
        pending: &PendingHost,
        now: Timestamp,
        before: Timestamp,
    ) -> Result<bool, Error> {
        let params = [
            now.into(),
            SqlValue::text(pending.workspace.as_str()),
            SqlValue::text(&pending.host),
            before.into(),
        ];
        Ok(!self.db.write(Step::new(START_CHECK, params)).await?.is_empty())
    }
}

/// For the end of a workspace.
pub(super) fn delete_all_step(workspace: &WorkspaceId) -> Step {
    Step::new(DELETE_ALL_PENDING, [SqlValue::text(workspace.as_str())])
}

fn lock_step(workspace: &WorkspaceId) -> Step {
    Step::new(LOCK_WORKSPACE, [SqlValue::text(workspace.as_str())]).or_undo()
}

fn room_step(workspace: &WorkspaceId, most: i64) -> Step {
    Step::new(HAS_ROOM, [SqlValue::text(workspace.as_str()), SqlValue::Int(most)]).or_undo()
}

fn delete_step(workspace: &WorkspaceId, host: &str) -> Step {
    Step::new(DELETE_PENDING, [SqlValue::text(workspace.as_str()), SqlValue::text(host)])
}

fn read_pending(row: &SqlRow) -> Result<PendingHost, Error> {
    Ok(PendingHost {
        workspace: read_id(row.text(0)?)?,
        host: row.text(1)?.to_owned(),
        token: row.text(2)?.to_owned(),
        created_at: row.time(3)?,
    })
}
