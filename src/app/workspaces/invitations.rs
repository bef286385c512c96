//! Invitations to workspaces: an administrator invites an address, and the person accepts or declines.
//!
//! Invariant: an answer to an administrator does not reveal whether an address has an account, since nothing
//! here looks for one. Nobody becomes a member without having accepted.
//!
//! Addresses are not verified, so who may accept goes by two things. Whoever shows the token of the
//! invitation may, with any account: an administrator gave it to them. Without it the account with the
//! address may, if it is older than the invitation; else whoever learns of an invitation could register its
//! address.

use std::time::Duration;

use crate::app::{Action, App, AppError, FieldError, MAIN, Resource, accounts};
use crate::store::{Accepted, Invitation, Invited, Member, NewInvitation};
use kurz_core::account::{Act, Caller, Identity, Role, Scope, access, claim};
use kurz_core::code::WorkspaceId;

/// How long an invitation is good.
const INVITATION_LIFE: Duration = Duration::from_hours(7 * 24);
/// Most invitations of a workspace that wait for an answer.
const MOST_PENDING: i64 = 100;
/// Most invitations that one person is shown.
const MOST_SHOWN: i64 = 100;

/// Which invitation somebody answers.
#[derive(Clone, Debug)]
pub enum InvitationKey {
    /// By its number, which the account with its address was shown.
    Id(i64),
    /// By the token in its link.
    Token(String),
}

/// An invitation that was just made; the only time that its link is shown.
#[derive(Clone, Debug)]
pub struct FreshInvitation {
    pub invitation: Invitation,
    /// The secret of the link.
    pub token: String,
    pub url: String,
}

/// An invitation as the invited person sees it.
#[derive(Clone, Debug)]
pub struct ReceivedInvitation {
    pub invitation: Invitation,
    /// Whether accepting it takes its link: the account is younger than the invitation.
    pub needs_link: bool,
}

impl App {
    /// Invite an address into a workspace, in place of an earlier invitation for the same address.
    pub async fn invite_member(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        email: &str,
        role: Role,
    ) -> Result<FreshInvitation, AppError> {
        let (workspace, _) = self.enter(caller, workspace, Act::Manage).await?;
        if workspace.id.as_str() == MAIN {
            let detail = "everybody is in `main` with their own links: make a workspace for a team";
            return Err(FieldError::new("workspace", "main-has-no-members", detail).into());
        }
        let email = accounts::read_email(email)?;
        // Who is in, an administrator can see anyway.
        if self.parts.store.find_member(&workspace.id, &email).await?.is_some() {
            return Err(AppError::MemberTaken);
        }
        let token = claim::fresh(&mut |bytes| self.parts.entropy.fill(bytes));
        let hash = claim::hash(&token).ok_or(AppError::NotFound(Resource::Invitation))?;
        let now = self.parts.clock.now();
        let new = NewInvitation {
            id: self.parts.store.take_numbers("invitation", 1).await?,
            workspace: workspace.id.clone(),
            email,
            role,
            hash,
            invited_by: caller.owner(),
            created_at: now,
            expires_at: now.plus(INVITATION_LIFE),
        };
        let change = self
            .audit_member(caller, &workspace.id, &new.email, Action::Invited, Some(role))
            .await?;
        match self.parts.store.insert_invitation(&new, MOST_PENDING, &change).await? {
            Invited::Done => {}
            Invited::WorkspaceGone => return Err(AppError::NotFound(Resource::Workspace)),
            Invited::TooMany => {
                let detail = format!(
                    "{MOST_PENDING} invitations of this workspace wait for an answer: revoke some \
                     first"
                );
                return Err(FieldError::new("email", "invitations-too-many", detail).into());
            }
        }
        let url = format!("{}/app/invitation?token={token}", self.parts.policy.public_url);
        let invitation = Invitation {
            id: new.id,
            workspace: new.workspace,
            email: new.email,
            role,
            invited_by: caller.identity().map(|identity| identity.email.clone()),
            created_at: new.created_at,
            expires_at: new.expires_at,
        };
        Ok(FreshInvitation { invitation, token, url })
    }

    /// The invitations of a workspace that wait for an answer: there are few enough for one list.
    pub async fn list_invitations(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
    ) -> Result<Vec<Invitation>, AppError> {
        let (workspace, _) = self.enter(caller, workspace, Act::Manage).await?;
        let now = self.parts.clock.now();
        Ok(self.parts.store.list_invitations(&workspace.id, now, MOST_PENDING).await?)
    }

    /// Take an invitation back.
    pub async fn revoke_invitation(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        id: i64,
    ) -> Result<(), AppError> {
        let (workspace, _) = self.enter(caller, workspace, Act::Manage).await?;
        let now = self.parts.clock.now();
        let found = self.parts.store.find_invitation(id, now).await?;
        let found = found.filter(|one| one.workspace == workspace.id);
        let found = found.ok_or(AppError::NotFound(Resource::Invitation))?;
        self.end_invitation(caller, &found, Action::InvitationRevoked).await
    }

    /// The invitations for the caller's address.
    pub async fn list_received_invitations(
        &self,
        caller: &Caller,
    ) -> Result<Vec<ReceivedInvitation>, AppError> {
        let identity = access::to_whole_account(caller, Scope::Read)?;
        let user = self.parts.store.find_user(&identity.email).await?;
        let user = user.ok_or(AppError::InvalidToken)?;
        let now = self.parts.clock.now();
        let found = self.parts.store.list_invitations_for(&user.email, now, MOST_SHOWN).await?;
        let receive = |invitation: Invitation| ReceivedInvitation {
            needs_link: user.created_at > invitation.created_at,
            invitation,
        };
        Ok(found.into_iter().map(receive).collect())
    }

    /// The invitation that a link leads to.
    pub async fn show_invitation(
        &self,
        caller: &Caller,
        token: &str,
    ) -> Result<Invitation, AppError> {
        access::to_whole_account(caller, Scope::Read)?;
        self.find_by_token(token).await
    }

    /// Become a member, as an invitation says.
    pub async fn accept_invitation(
        &self,
        caller: &Caller,
        key: &InvitationKey,
    ) -> Result<(WorkspaceId, Member), AppError> {
        let identity = access::to_whole_account(caller, Scope::Manage)?;
        let invitation = self.find_to_answer(identity, key).await?;
        let workspace = &invitation.workspace;
        let change = self
            .audit_member(
                caller,
                workspace,
                &identity.email,
                Action::InvitationAccepted,
                Some(invitation.role),
            )
            .await?;
        let now = self.parts.clock.now();
        let store = &self.parts.store;
        match store.accept_invitation(&invitation, identity.id, now, &change).await? {
            Accepted::Done => {}
            Accepted::Gone => return Err(AppError::NotFound(Resource::Invitation)),
            Accepted::NotAdded => {
                let is_member = store.find_role(workspace, identity.id).await?.is_some();
                return Err(if is_member { AppError::MemberTaken } else { AppError::MembersFull });
            }
        }
        self.invalidate_workspace(workspace);
        let member = self.member(workspace, &identity.email).await?;
        Ok((invitation.workspace, member))
    }

    pub async fn decline_invitation(
        &self,
        caller: &Caller,
        key: &InvitationKey,
    ) -> Result<(), AppError> {
        let identity = access::to_whole_account(caller, Scope::Manage)?;
        let invitation = self.find_to_answer(identity, key).await?;
        self.end_invitation(caller, &invitation, Action::InvitationDeclined).await
    }

    /// An invitation that the account may answer.
    async fn find_to_answer(
        &self,
        identity: &Identity,
        key: &InvitationKey,
    ) -> Result<Invitation, AppError> {
        let id = match key {
            InvitationKey::Token(token) => return self.find_by_token(token).await,
            InvitationKey::Id(id) => *id,
        };
        let missing = AppError::NotFound(Resource::Invitation);
        let found = self.parts.store.find_invitation(id, self.parts.clock.now()).await?;
        // One for somebody else is one that does not exist.
        let found = found.filter(|one| one.email == identity.email).ok_or(missing)?;
        let user = self.parts.store.find_user(&identity.email).await?;
        let user = user.ok_or(AppError::InvalidToken)?;
        if user.created_at > found.created_at {
            return Err(AppError::InvitationNeedsLink);
        }
        Ok(found)
    }

    async fn find_by_token(&self, token: &str) -> Result<Invitation, AppError> {
        let missing = AppError::NotFound(Resource::Invitation);
        let Some(hash) = claim::hash(token) else { return Err(missing) };
        let now = self.parts.clock.now();
        self.parts.store.find_invitation_by_hash(&hash, now).await?.ok_or(missing)
    }

    async fn end_invitation(
        &self,
        caller: &Caller,
        invitation: &Invitation,
        action: Action,
    ) -> Result<(), AppError> {
        let Invitation { id, workspace, email, role, .. } = invitation;
        let change = self.audit_member(caller, workspace, email, action, Some(*role)).await?;
        if self.parts.store.delete_invitation(workspace, *id, &change).await? {
            Ok(())
        } else {
            Err(AppError::NotFound(Resource::Invitation))
        }
    }
}
