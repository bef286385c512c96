//! Members of workspaces and their roles.

use crate::store::driver::{Step, statements};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::workspaces::{Workspace, read_workspace};
use crate::store::{Error, NewAuditEntry, Store};
use kurz_core::account::{Email, Role, UserId};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

statements! {
    /// Read by every request about a workspace that is not `main`.
    FIND_ROLE = "select role from members where workspace = $1 and user_id = $2";
    FIND = "select u.id, u.email, u.name, m.role, m.created_at
        from members m join users u on u.id = m.user_id
        where m.workspace = $1 and u.email = $2";
    INSERT = "insert into members (workspace, user_id, role, created_at) values ($1, $2, $3, $4)
        on conflict do nothing returning user_id";
    LIST = "select u.id, u.email, u.name, m.role, m.created_at
        from members m join users u on u.id = m.user_id
        where m.workspace = $1 and m.user_id > $2 order by m.user_id limit $3";
    /// Not when it would leave the workspace without an administrator.
    SET_ROLE = "update members set role = $1
        where workspace = $2 and user_id = $3 and (role <> 'admin' or $1 = 'admin' or exists
            (select 1 from members o where o.workspace = $2 and o.user_id <> $3
                and o.role = 'admin'))
        returning user_id";
    DELETE = "delete from members
        where workspace = $1 and user_id = $2 and (role <> 'admin' or exists
            (select 1 from members o where o.workspace = $1 and o.user_id <> $2
                and o.role = 'admin'))
        returning user_id";
    WORKSPACES = "select w.id, w.strategy, w.hit_limit, w.created_at, w.updated_at
        from members m join workspaces w on w.id = m.workspace
        where m.user_id = $1 and m.workspace > $2 and w.deleted_at is null
        order by m.workspace limit $3";
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

    /// Add a member; `false` when the user is one already.
    pub async fn insert_member(
        &self,
        workspace: &WorkspaceId,
        user: UserId,
        role: Role,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let step = insert_step(workspace, user, role, now);
        Ok(!self.write_audited(step, change).await?.is_empty())
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

    /// Give a member another role; `false` when they are gone, or the last administrator.
    pub async fn set_role(
        &self,
        workspace: &WorkspaceId,
        user: UserId,
        role: Role,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let params = [
            SqlValue::text(role.as_str()),
            SqlValue::text(workspace.as_str()),
            SqlValue::Int(user.0),
        ];
        Ok(!self.write_audited(Step::new(SET_ROLE, params), change).await?.is_empty())
    }

    /// Remove a member; `false` when they are gone, or the last administrator.
    pub async fn delete_member(
        &self,
        workspace: &WorkspaceId,
        user: UserId,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let params = [SqlValue::text(workspace.as_str()), SqlValue::Int(user.0)];
        Ok(!self.write_audited(Step::new(DELETE, params), change).await?.is_empty())
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
    ];
    Step::new(INSERT, params)
}

fn read_role(text: &str) -> Result<Role, Error> {
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
