//! Deleting an account: it is marked first, then its links are deleted, its row last.
//!
//! Invariant: nothing is made with a marked account, since whatever is made asks for a live one in its own
//! statement or transaction (`live_rows`). So no link of it comes after its links were deleted. No workspace
//! loses its last administrator: that is looked at with its members locked.

use crate::store::cleanup::read_address;
use crate::store::driver::{Outcome, Step, statements};
use crate::store::members::other_admin;
use crate::store::value::SqlValue;
use crate::store::workspaces::read_id;
use crate::store::{Error, LinkAddress, NewAuditEntry, Store, audit};
use kurz_core::account::UserId;
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

/// The workspaces `w` of whose administrators the account `$1` is the last.
macro_rules! stranded {
    () => {
        concat!(
            "members m join workspaces w on w.id = m.workspace and w.deleted_at is null
            where m.user_id = $1 and m.role = 'admin' and not ",
            other_admin!("m.workspace", "$1")
        )
    };
}

statements! {
    /// Ends all tokens as well.
    MARK = "update users set deleted_at = $1, updated_at = $1,
            token_version = case when token_version >= $1 then token_version + 1 else $1 end
        where id = $2 and deleted_at is null returning id";
    LOCK_WORKSPACES = "update workspaces set updated_at = updated_at
        where deleted_at is null and id in
            (select workspace from members where user_id = $1 and role = 'admin')";
    /// A row when no workspace would be without an administrator.
    NONE_STRANDED = concat!("select cast(1 as bigint) where not exists (select 1 from ", stranded!(), ")");
    LIST_STRANDED = concat!("select w.id from ", stranded!(), " order by w.id limit $2");
    DELETE_KEYS = "delete from api_keys where user_id = $1";
    DELETE_MEMBERSHIPS = "delete from members where user_id = $1";
    DELETE_SESSIONS = "delete from sessions where user_id = $1";
    DELETE_MONTHS = "delete from user_months where user_id = $1";
    /// Some of a user's own links; those that it returned do not match again.
    DELETE_LINKS = "update links set deleted_at = $1, updated_at = $1, version = version + 1
        where id in (select id from links where list_scope = $2
            and deleted_at is null and purged_at is null limit $3)
        returning id, workspace, code";
    DELETE = "delete from users where id = $1 and deleted_at is not null";
    LIST_MARKED = "select id from users where deleted_at is not null order by deleted_at limit $1";
}

const PART: i64 = 500;

/// What became of an account that was to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountMark {
    Done,
    /// It is gone already.
    Gone,
    /// It is the last administrator of workspaces.
    LastAdmin,
}

impl Store {
    /// Mark an account as deleted, and remove its keys, sessions and memberships.
    pub async fn mark_user_deleted(
        &self,
        id: UserId,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<AccountMark, Error> {
        let of_user = |sql| Step::new(sql, [SqlValue::Int(id.0)]);
        let mut steps = vec![
            Step::new(MARK, [now.into(), SqlValue::Int(id.0)]).or_undo(),
            of_user(LOCK_WORKSPACES),
            of_user(NONE_STRANDED).or_undo(),
        ];
        steps.extend(remove_steps(id));
        steps.push(audit::step(change));
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => AccountMark::Done,
            Outcome::Undone(missed) if missed.contains(&0) => AccountMark::Gone,
            Outcome::Undone(_) => AccountMark::LastAdmin,
        })
    }

    /// The workspaces of whose administrators a user is the last, by name.
    pub async fn list_stranded(&self, id: UserId, most: i64) -> Result<Vec<WorkspaceId>, Error> {
        let params = vec![SqlValue::Int(id.0), SqlValue::Int(most)];
        let rows = self.db.list(LIST_STRANDED, params).await?;
        rows.iter().map(|row| read_id(row.text(0)?)).collect()
    }

    /// Delete some of a user's own links; the address of each. Empty: none is left.
    pub async fn delete_own_links(
        &self,
        id: UserId,
        now: Timestamp,
    ) -> Result<Vec<LinkAddress>, Error> {
        let own = SqlValue::owned(format!("main/{id}"));
        let params = [now.into(), own, SqlValue::Int(PART)];
        let rows = self.db.write(Step::new(DELETE_LINKS, params)).await?;
        rows.iter().map(read_address).collect()
    }

    /// Remove a marked account, whose links are deleted; its address is free again.
    pub async fn remove_marked_user(&self, id: UserId) -> Result<(), Error> {
        let mut steps = remove_steps(id);
        steps.push(Step::new(DELETE, [SqlValue::Int(id.0)]));
        self.db.batch(steps).await.map(|_| ())
    }

    /// Accounts that are marked as deleted and still there, the oldest mark first.
    pub async fn list_marked_users(&self, most: i64) -> Result<Vec<UserId>, Error> {
        let rows = self.db.list(LIST_MARKED, vec![SqlValue::Int(most)]).await?;
        rows.iter().map(|row| row.int(0).map(UserId)).collect()
    }
}

/// Remove what refers to an account.
fn remove_steps(id: UserId) -> Vec<Step> {
    let of_user = |sql| Step::new(sql, [SqlValue::Int(id.0)]);
    [DELETE_KEYS, DELETE_MEMBERSHIPS, DELETE_SESSIONS, DELETE_MONTHS].map(of_user).to_vec()
}
