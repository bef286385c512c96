//! Workspaces and the hosts they answer on.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::live_rows::{lock_user, lock_workspace};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, NewAuditEntry, Store, audit, members, pending_hosts};
use kurz_core::account::{Role, UserId};
use kurz_core::code::WorkspaceId;
use kurz_core::link::Strategy;
use kurz_core::time::Timestamp;

statements! {
    /// A deleted workspace comes back under its old name: its tombstones still guard its codes.
    INSERT = "insert into workspaces (id, strategy, hit_limit, created_at, updated_at)
        values ($1, $2, $3, $4, $4)
        on conflict (id) do update set strategy = excluded.strategy,
            hit_limit = excluded.hit_limit, created_at = excluded.created_at,
            updated_at = excluded.updated_at, deleted_at = null
        where workspaces.deleted_at is not null
        returning id";
    /// A deleted workspace does not come back: its links are another team's.
    INSERT_NEW = "insert into workspaces
            (id, strategy, hit_limit, created_at, updated_at, created_by)
        values ($1, $2, $3, $4, $4, $5) on conflict (id) do nothing returning id";
    /// A row when the account may make one workspace more.
    HAS_ROOM = "select cast(1 as bigint) where (select count(*) from workspaces
        where created_by = $1 and deleted_at is null) < $2";
    FIND = "select id, strategy, hit_limit, created_at, updated_at from workspaces
        where id = $1 and deleted_at is null";
    LIST = "select id, strategy, hit_limit, created_at, updated_at from workspaces
        where id > $1 and deleted_at is null order by id limit $2";
    UPDATE = "update workspaces set strategy = $1, hit_limit = $2, updated_at = $3
        where id = $4 and deleted_at is null returning id";
    /// Only when no link of it can be followed or restored by surprise. The workspace is locked by a step
    /// before: a link that is being made then is seen, or is not made.
    DELETE = "update workspaces set deleted_at = $1, updated_at = $1
        where id = $2 and deleted_at is null and not exists
            (select 1 from links where workspace = $2 and deleted_at is null and purged_at is null)
        returning id";
    RESTORE = "update workspaces set deleted_at = null, updated_at = $1
        where id = $2 and deleted_at is not null returning id";
    IS_DELETED = "select id from workspaces where id = $1 and deleted_at is not null";
    DELETE_HOSTS = "delete from hosts where workspace = $1";
    DELETE_MEMBERS = "delete from members where workspace = $1";
    DELETE_INVITATIONS = "delete from workspace_invitations where workspace = $1";
    /// The first workspace to name a host keeps it.
    INSERT_HOST = "insert into hosts (host, workspace, created_at) values ($1, $2, $3)
                   on conflict (host) do nothing returning host";
    DELETE_HOST = "delete from hosts where host = $1 and workspace = $2 returning host";
    /// The workspace that released a host last: for some time no other can take it.
    RELEASE_HOST = "insert into released_hosts (host, workspace, released_at) values ($1, $2, $3)
        on conflict (host) do update set workspace = excluded.workspace,
            released_at = excluded.released_at";
    RELEASE_HOSTS = "insert into released_hosts (host, workspace, released_at)
        select host, workspace, cast($1 as bigint) from hosts where workspace = $2
        on conflict (host) do update set workspace = excluded.workspace,
            released_at = excluded.released_at";
    FIND_RELEASED = "select workspace, released_at from released_hosts where host = $1";
    LIST_HOSTS = "select host, workspace, created_at, home_url, not_found_url, invalid_code_url
        from hosts where workspace = $1 order by created_at, host limit $2";
    ALL_HOSTS = "select host, workspace, created_at, home_url, not_found_url, invalid_code_url
        from hosts where host > $1 order by host limit $2";
    EDIT_HOST = "update hosts set home_url = $1, not_found_url = $2, invalid_code_url = $3
        where host = $4 and workspace = $5 returning host";
}

const HOSTS: i64 = 100;

/// A team's own set of codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Its name, which is its key.
    pub id: WorkspaceId,
    /// How its links get their codes unless a request says otherwise.
    pub strategy: Strategy,
    /// Hits a month for each of its links; 0: any number; `None`: what the server says.
    pub hit_limit: Option<i64>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What became of a workspace that was to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceAdded {
    Done,
    /// Its name is taken, or was, by a workspace that is deleted.
    Taken,
    /// The account made as many workspaces as it may.
    TooMany,
}

/// A host name that belongs to a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The name, in lower case.
    pub host: String,
    pub workspace: WorkspaceId,
    pub created_at: Timestamp,
    pub urls: HostUrls,
}

/// Where addresses of a host lead that are no link's; `None`: a page says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostUrls {
    /// `/`.
    pub home: Option<String>,
    /// Unknown codes.
    pub not_found: Option<String>,
    /// Paths that can be no code.
    pub invalid_code: Option<String>,
}

impl Store {
    /// Make a workspace, or bring a deleted one back; `false` when its name is taken.
    pub async fn insert_workspace(&self, workspace: &Workspace) -> Result<bool, Error> {
        let step = Step::new(INSERT, insert_params(workspace));
        Ok(!self.db.write(step).await?.is_empty())
    }

    /// Make a workspace that `admin` administers, and write it down. An account makes `limit` of them
    /// at most.
    pub async fn insert_workspace_of(
        &self,
        workspace: &Workspace,
        admin: Option<UserId>,
        limit: Option<i64>,
        change: &NewAuditEntry,
    ) -> Result<WorkspaceAdded, Error> {
        let now = workspace.created_at;
        let params = insert_params(workspace);
        let (mut steps, mut room_at) = (Vec::new(), None);
        match admin {
            // Where nobody has an account, a deleted one may come back: all links are everybody's.
            None => steps.push(Step::new(INSERT, params).or_undo()),
            Some(admin) => {
                steps.push(lock_user(admin));
                if let Some(limit) = limit {
                    room_at = Some(steps.len());
                    let room = [SqlValue::Int(admin.0), SqlValue::Int(limit)];
                    steps.push(Step::new(HAS_ROOM, room).or_undo());
                }
                let insert = params.into_iter().chain([SqlValue::Int(admin.0)]);
                steps.push(Step::new(INSERT_NEW, insert).or_undo());
                steps.push(members::insert_step(&workspace.id, admin, Role::Admin, now));
            }
        }
        steps.push(audit::step(change));
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => WorkspaceAdded::Done,
            Outcome::Undone(missed) if room_at.is_some_and(|at| missed == [at]) => {
                WorkspaceAdded::TooMany
            }
            Outcome::Undone(_) => WorkspaceAdded::Taken,
        })
    }

    pub async fn find_workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, Error> {
        let row = self.db.find(FIND, &[SqlValue::text(id.as_str())]).await?;
        row.map(|row| read_workspace(&row)).transpose()
    }

    /// Workspaces in the order of their names, after `after`.
    pub async fn list_workspaces(&self, after: &str, most: i64) -> Result<Vec<Workspace>, Error> {
        let rows = self.db.list(LIST, vec![SqlValue::text(after), SqlValue::Int(most)]).await?;
        rows.iter().map(read_workspace).collect()
    }

    /// Change a workspace; `false` when there is none of that name.
    pub async fn update_workspace(
        &self,
        workspace: &Workspace,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let params = [
            SqlValue::text(workspace.strategy.as_str()),
            workspace.hit_limit.into(),
            workspace.updated_at.into(),
            SqlValue::text(workspace.id.as_str()),
        ];
        Ok(!self.write_audited(Step::new(UPDATE, params), change).await?.is_empty())
    }

    /// Remove a workspace whose links are all deleted; `false` when there is no such workspace.
    pub async fn delete_workspace(
        &self,
        id: &WorkspaceId,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let steps = vec![
            lock_workspace(id),
            Step::new(DELETE, [now.into(), SqlValue::text(id.as_str())]).or_undo(),
            Step::new(RELEASE_HOSTS, [now.into(), SqlValue::text(id.as_str())]),
            Step::new(DELETE_HOSTS, [SqlValue::text(id.as_str())]),
            pending_hosts::delete_all_step(id),
            Step::new(DELETE_MEMBERS, [SqlValue::text(id.as_str())]),
            Step::new(DELETE_INVITATIONS, [SqlValue::text(id.as_str())]),
            audit::step(change),
        ];
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// Bring a deleted workspace back, without its members and hosts; `false` when it is not deleted.
    pub async fn restore_workspace(
        &self,
        id: &WorkspaceId,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let step = Step::new(RESTORE, [now.into(), SqlValue::text(id.as_str())]);
        Ok(!self.write_audited(step, change).await?.is_empty())
    }

    pub async fn is_workspace_deleted(&self, id: &WorkspaceId) -> Result<bool, Error> {
        Ok(self.db.find(IS_DELETED, &[SqlValue::text(id.as_str())]).await?.is_some())
    }

    /// Give a host to a workspace; `false` when it is taken.
    pub async fn insert_host(&self, host: &Host) -> Result<bool, Error> {
        Ok(!self.db.write(host_step(host)).await?.is_empty())
    }

    /// Take a host from a workspace; `false` when it does not have it.
    pub async fn delete_host(
        &self,
        host: &str,
        workspace: &WorkspaceId,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let params = [SqlValue::text(host), SqlValue::text(workspace.as_str())];
        let release = [SqlValue::text(host), SqlValue::text(workspace.as_str()), now.into()];
        let steps = vec![
            Step::new(DELETE_HOST, params).or_undo(),
            Step::new(RELEASE_HOST, release),
            audit::step(change),
        ];
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// Change where other addresses of a host lead; `false` when it is not the workspace's.
    pub async fn edit_host(&self, host: &Host, change: &NewAuditEntry) -> Result<bool, Error> {
        let params = [
            host.urls.home.as_deref().into(),
            host.urls.not_found.as_deref().into(),
            host.urls.invalid_code.as_deref().into(),
            SqlValue::text(&host.host),
            SqlValue::text(host.workspace.as_str()),
        ];
        Ok(!self.write_audited(Step::new(EDIT_HOST, params), change).await?.is_empty())
    }

    /// The workspace that gave up a host last, and when.
    pub async fn find_released_host(
        &self,
        host: &str,
    ) -> Result<Option<(WorkspaceId, Timestamp)>, Error> {
        let row = self.db.find(FIND_RELEASED, &[SqlValue::text(host)]).await?;
        row.map(|row| Ok((read_id(row.text(0)?)?, row.time(1)?))).transpose()
    }

    /// The hosts of a workspace, oldest first.
    pub async fn list_hosts(&self, workspace: &WorkspaceId) -> Result<Vec<Host>, Error> {
        let params = vec![SqlValue::text(workspace.as_str()), SqlValue::Int(HOSTS)];
        self.db.list(LIST_HOSTS, params).await?.iter().map(read_host).collect()
    }

    /// All hosts in the order of their names, after `after`.
    pub async fn list_all_hosts(&self, after: &str, most: i64) -> Result<Vec<Host>, Error> {
        let rows =
            self.db.list(ALL_HOSTS, vec![SqlValue::text(after), SqlValue::Int(most)]).await?;
        rows.iter().map(read_host).collect()
    }
}

pub(super) fn host_step(host: &Host) -> Step {
    let params = [
        SqlValue::text(&host.host),
        SqlValue::text(host.workspace.as_str()),
        host.created_at.into(),
    ];
    Step::new(INSERT_HOST, params)
}

fn insert_params(workspace: &Workspace) -> [SqlValue<'_>; 4] {
    [
        SqlValue::text(workspace.id.as_str()),
        SqlValue::text(workspace.strategy.as_str()),
        workspace.hit_limit.into(),
        workspace.created_at.into(),
    ]
}

pub(super) fn read_workspace(row: &SqlRow) -> Result<Workspace, Error> {
    Ok(Workspace {
        id: read_id(row.text(0)?)?,
        strategy: read_strategy(row.text(1)?)?,
        hit_limit: row.opt_int(2)?,
        created_at: row.time(3)?,
        updated_at: row.time(4)?,
    })
}

pub(super) fn read_host(row: &SqlRow) -> Result<Host, Error> {
    Ok(Host {
        host: row.text(0)?.to_owned(),
        workspace: read_id(row.text(1)?)?,
        created_at: row.time(2)?,
        urls: HostUrls {
            home: row.opt_text(3)?.map(str::to_owned),
            not_found: row.opt_text(4)?.map(str::to_owned),
            invalid_code: row.opt_text(5)?.map(str::to_owned),
        },
    })
}

pub(super) fn read_id(text: &str) -> Result<WorkspaceId, Error> {
    WorkspaceId::parse(text).ok_or_else(|| Error::Corrupt(format!("`{text}` is no workspace id")))
}

pub(super) fn read_strategy(text: &str) -> Result<Strategy, Error> {
    text.parse().map_err(|()| Error::Corrupt(format!("`{text}` is no strategy")))
}
