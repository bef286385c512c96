//! Invitations to workspaces. Of an invitation's token only the hash is here.
//!
//! Invariant: a workspace has one pending invitation for an address and a bounded number in all. An invitation
//! that was accepted, declined or revoked has no row; the audit log tells what became of it.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::live_rows::{live_user, lock_workspace};
use crate::store::members::{insert_step, read_role};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::workspaces::read_id;
use crate::store::{Error, NewAuditEntry, Store, audit};
use kurz_core::account::{Email, Role, UserId};
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

/// Invitations to workspaces that exist, with the address of whoever made them.
macro_rules! invitations {
    ($which:literal) => {
        concat!(
            "select i.id, i.workspace, i.email, i.role, u.email, i.created_at, i.expires_at
        from workspace_invitations i join workspaces w on w.id = i.workspace and w.deleted_at is null
            left join users u on u.id = i.invited_by
        where ",
            $which
        )
    };
}

statements! {
    /// The workspace is locked by a step before, so that the count holds.
    INSERT = "insert into workspace_invitations
            (id, workspace, email, role, hash, invited_by, created_at, expires_at)
        select $1, $2, $3, $4, $5, $6, $7, $8
        where (select count(*) from workspace_invitations where workspace = $2 and email <> $3) < $9
        on conflict (workspace, email) do update set id = excluded.id, role = excluded.role,
            hash = excluded.hash, invited_by = excluded.invited_by,
            created_at = excluded.created_at, expires_at = excluded.expires_at
        returning id";
    SWEEP = "delete from workspace_invitations where workspace = $1 and expires_at <= $2";
    LIST = invitations!("i.workspace = $1 and i.expires_at > $2 order by i.id limit $3");
    LIST_FOR = invitations!("i.email = $1 and i.expires_at > $2 order by i.id limit $3");
    FIND = invitations!("i.id = $1 and i.expires_at > $2");
    FIND_BY_HASH = invitations!("i.hash = $1 and i.expires_at > $2");
    /// No row back: it is used, over, replaced or revoked.
    TAKE = "delete from workspace_invitations where id = $1 and expires_at > $2 returning id";
    REVOKE = "delete from workspace_invitations where id = $1 and workspace = $2 returning id";
}

/// An invitation that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    pub id: i64,
    pub workspace: WorkspaceId,
    /// Whom it is for, whether or not there is such an account.
    pub email: Email,
    /// The role that they will have.
    pub role: Role,
    /// Who invited them, while that account exists.
    pub invited_by: Option<Email>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// An invitation to be kept.
#[derive(Clone, Debug)]
pub struct NewInvitation {
    /// A number from [`Store::take_numbers`].
    pub id: i64,
    pub workspace: WorkspaceId,
    pub email: Email,
    pub role: Role,
    /// SHA-256 of its token.
    pub hash: [u8; 32],
    pub invited_by: Option<UserId>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// What became of a new invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invited {
    Done,
    /// As many as there may be wait for an answer.
    TooMany,
    WorkspaceGone,
}

/// What became of an invitation that was to be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    Done,
    /// The invitation, its workspace or the account is gone.
    Gone,
    /// They are a member already, or the workspace is full.
    NotAdded,
}

impl Store {
    /// Keep an invitation in place of an earlier one for the same address, unless `most` others wait.
    pub async fn insert_invitation(
        &self,
        new: &NewInvitation,
        most: i64,
        change: &NewAuditEntry,
    ) -> Result<Invited, Error> {
        let workspace = SqlValue::text(new.workspace.as_str());
        let params = [
            SqlValue::Int(new.id),
            workspace.clone(),
            SqlValue::text(new.email.as_str()),
            SqlValue::text(new.role.as_str()),
            SqlValue::blob(&new.hash),
            new.invited_by.map(|user| user.0).into(),
            new.created_at.into(),
            new.expires_at.into(),
            SqlValue::Int(most),
        ];
        let steps = vec![
            lock_workspace(&new.workspace),
            Step::new(SWEEP, [workspace, new.created_at.into()]),
            Step::new(INSERT, params).or_undo(),
            audit::step(change),
        ];
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => Invited::Done,
            Outcome::Undone(missed) if missed.contains(&0) => Invited::WorkspaceGone,
            Outcome::Undone(_) => Invited::TooMany,
        })
    }

    /// The invitations of a workspace that wait at `now`, oldest first.
    pub async fn list_invitations(
        &self,
        workspace: &WorkspaceId,
        now: Timestamp,
        most: i64,
    ) -> Result<Vec<Invitation>, Error> {
        let params = vec![SqlValue::text(workspace.as_str()), now.into(), SqlValue::Int(most)];
        self.db.list(LIST, params).await?.iter().map(read_invitation).collect()
    }

    /// The invitations for an address that wait at `now`, oldest first.
    pub async fn list_invitations_for(
        &self,
        email: &Email,
        now: Timestamp,
        most: i64,
    ) -> Result<Vec<Invitation>, Error> {
        let params = vec![SqlValue::text(email.as_str()), now.into(), SqlValue::Int(most)];
        self.db.list(LIST_FOR, params).await?.iter().map(read_invitation).collect()
    }

    /// An invitation that waits at `now`.
    pub async fn find_invitation(
        &self,
        id: i64,
        now: Timestamp,
    ) -> Result<Option<Invitation>, Error> {
        let row = self.db.find(FIND, &[SqlValue::Int(id), now.into()]).await?;
        row.map(|row| read_invitation(&row)).transpose()
    }

    /// The same by the hash of its token.
    pub async fn find_invitation_by_hash(
        &self,
        hash: &[u8; 32],
        now: Timestamp,
    ) -> Result<Option<Invitation>, Error> {
        let row = self.db.find(FIND_BY_HASH, &[SqlValue::blob(hash), now.into()]).await?;
        row.map(|row| read_invitation(&row)).transpose()
    }

    /// Make `user` a member, as an invitation says that waits at `now`.
    pub async fn accept_invitation(
        &self,
        invitation: &Invitation,
        user: UserId,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<Accepted, Error> {
        let steps = vec![
            live_user(user),
            lock_workspace(&invitation.workspace),
            Step::new(TAKE, [SqlValue::Int(invitation.id), now.into()]).or_undo(),
            insert_step(&invitation.workspace, user, invitation.role, now).or_undo(),
            audit::step(change),
        ];
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => Accepted::Done,
            Outcome::Undone(missed) if missed == [3] => Accepted::NotAdded,
            Outcome::Undone(_) => Accepted::Gone,
        })
    }

    /// Remove an invitation of a workspace; `false` when there is no such one.
    pub async fn delete_invitation(
        &self,
        workspace: &WorkspaceId,
        id: i64,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let params = [SqlValue::Int(id), SqlValue::text(workspace.as_str())];
        Ok(!self.write_audited(Step::new(REVOKE, params), change).await?.is_empty())
    }
}

fn read_invitation(row: &SqlRow) -> Result<Invitation, Error> {
    let read_email = |text: &str| {
        Email::parse(text).map_err(|_| Error::Corrupt(format!("`{text}` is no email address")))
    };
    Ok(Invitation {
        id: row.int(0)?,
        workspace: read_id(row.text(1)?)?,
        email: read_email(row.text(2)?)?,
        role: read_role(row.text(3)?)?,
        invited_by: row.opt_text(4)?.map(read_email).transpose()?,
        created_at: row.time(5)?,
        expires_at: row.time(6)?,
    })
}
