//! Members of workspaces and their roles.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::live_rows::{live_user, lock_workspace};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::workspaces::{Workspace, read_workspace};
use crate::store::{Error, NewAuditEntry, Store, audit};
use kurz_core::account::{Email, Role, UserId};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

/// Whether a workspace has another administrator than a user: one who can sign in.
macro_rules! other_admin {
    ($workspace:literal, $user:literal) => {
        concat!(
            "exists (select 1 from members o join users a on a.id = o.user_id
                and a.deleted_at is null and a.disabled_at is null
            where o.workspace = ",
            $workspace,
            " and o.user_id <> ",
            $user,
            " and o.role = 'admin')"
        )
    };
}
pub(super) use other_admin;

statements! {
    /// Read by every request about a workspace that is not `main`.
    FIND_ROLE = "select role from members where workspace = $1 and user_id = $2";
    FIND = "select u.id, u.email, u.name, m.role, m.created_at
        from members m join users u on u.id = m.user_id
        where m.workspace = $1 and u.email = $2";
    /// No row back: they are in, or there are as many as there may be.
    INSERT = "insert into members (workspace, user_id, role, created_at)
        select $1, $2, $3, $4 where (select count(*) from members where workspace = $1) < $5
        on conflict do nothing returning user_id";
    LIST = "select u.id, u.email, u.name, m.role, m.created_at
        from members m join users u on u.id = m.user_id
        where m.workspace = $1 and m.user_id > $2 order by m.user_id limit $3";
    /// Not when it would leave the workspace without an administrator. The workspace is locked by a step
    /// before, so that two of them cannot each go by the other.
    SET_ROLE = concat!("update members set role = $1
        where workspace = $2 and user_id = $3 and (role <> 'admin' or $1 = 'admin' or ",
            other_admin!("$2", "$3"), ")
        returning user_id");
    DELETE = concat!("delete from members
        where workspace = $1 and user_id = $2 and (role <> 'admin' or ",
            other_admin!("$1", "$2"), ")
        returning user_id");
    WORKSPACES = "select w.id, w.strategy, w.hit_limit, w.created_at, w.updated_at
        from members m join workspaces w on w.id = m.workspace
        where m.user_id = $1 and m.workspace > $2 and w.deleted_at is null
        order by m.workspace limit $3";
}

/// Most members of a workspace.
const MOST_MEMBERS: i64 = 1000;

/// What became of a change to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberChange {
    Done,
    /// The workspace, the account or the member is gone.
    Gone,
    /// The last administrator stays.
    LastAdmin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub user: UserId,
    pub email: Email,
    /// What they are called; may be empty.
    pub name: String,
    /// What they may do.
    pub role: Role,
    pub created_at: Timestamp,
}

impl Store {
    /// A user's role in a workspace.
    pub async fn find_role(
        &self,
        workspace: &WorkspaceId,
        user: UserId,
    ) -> Result<Option<Role>, Error> {
        let params = [SqlValue::text(workspace.as_str()), SqlValue::Int(user.0)];
        let row = self.db.find(FIND_ROLE, &params).await?;
        row.map(|row| read_role(row.text(0)?)).transpose()
    }

    pub async fn find_member(
        &self,
        workspace: &WorkspaceId,
        email: &Email,
    ) -> Result<Option<Member>, Error> {
        let params = [SqlValue::text(workspace.as_str()), SqlValue::text(email.as_str())];
        self.db.find(FIND, &params).await?.map(|row| read_member(&row)).transpose()
    }

    /// Members in the order of their numbers, after `after`.
    pub async fn list_members(
        &self,
        workspace: &WorkspaceId,
        after: UserId,
        most: i64,
    ) -> Result<Vec<Member>, Error> {
        let params =
            vec![SqlValue::text(workspace.as_str()), SqlValue::Int(after.0), SqlValue::Int(most)];
        self.db.list(LIST, params).await?.iter().map(read_member).collect()
    }

    /// Give a member another role.
    pub async fn set_role(
        &self,
        workspace: &WorkspaceId,
        user: UserId,
        role: Role,
        change: &NewAuditEntry,
    ) -> Result<MemberChange, Error> {
        let params = [
            SqlValue::text(role.as_str()),
            SqlValue::text(workspace.as_str()),
            SqlValue::Int(user.0),
        ];
        self.change_member(workspace, user, Step::new(SET_ROLE, params), change).await
    }

    /// Remove a member.
    pub async fn delete_member(
        &self,
        workspace: &WorkspaceId,
        user: UserId,
        change: &NewAuditEntry,
    ) -> Result<MemberChange, Error> {
        let params = [SqlValue::text(workspace.as_str()), SqlValue::Int(user.0)];
        self.change_member(workspace, user, Step::new(DELETE, params), change).await
    }

    /// Do a step that keeps the last administrator.
    async fn change_member(
        &self,
        workspace: &WorkspaceId,
        user: UserId,
        step: Step,
        change: &NewAuditEntry,
    ) -> Result<MemberChange, Error> {
        let steps =
            vec![live_user(user), lock_workspace(workspace), step.or_undo(), audit::step(change)];
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => MemberChange::Done,
            Outcome::Undone(missed) if missed == [2] => {
                match self.find_role(workspace, user).await? {
                    Some(_) => MemberChange::LastAdmin,
                    None => MemberChange::Gone,
                }
            }
            Outcome::Undone(_) => MemberChange::Gone,
        })
    }

    /// The workspaces that a user is in, by name, after `after`.
    pub async fn list_workspaces_of(
        &self,
        user: UserId,
        after: &str,
        most: i64,
    ) -> Result<Vec<Workspace>, Error> {
        let params = vec![SqlValue::Int(user.0), SqlValue::text(after), SqlValue::Int(most)];
        self.db.list(WORKSPACES, params).await?.iter().map(read_workspace).collect()
    }
}

/// The step that adds a member.
pub(super) fn insert_step(
    workspace: &WorkspaceId,
    user: UserId,
    role: Role,
    now: Timestamp,
) -> Step {
    let params = [
        SqlValue::text(workspace.as_str()),
        SqlValue::Int(user.0),
        SqlValue::text(role.as_str()),
        now.into(),
        SqlValue::Int(MOST_MEMBERS),
    ];
    Step::new(INSERT, params)
}

pub(super) fn read_role(text: &str) -> Result<Role, Error> {
    text.parse().map_err(|()| Error::Corrupt(format!("`{text}` is no role")))
}

fn read_member(row: &SqlRow) -> Result<Member, Error> {
    let email = row.text(1)?;
    Ok(Member {
        user: UserId(row.int(0)?),
        email: Email::parse(email)
            .map_err(|_| Error::Corrupt(format!("`{email}` is no email address")))?,
        name: row.text(2)?.to_owned(),
        role: read_role(row.text(3)?)?,
        created_at: row.time(4)?,
    })
}
