//! Invitations as the invited person sees them: the page that an invitation's link leads to, and the answers.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;

use crate::app::{App, AppError, Invitation, InvitationKey, Resource};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::i18n::{Words, fill};
use crate::web::page::{self, Layout};
use crate::web::visitor::{PageCall, Visitor};
use kurz_core::account::Role;

#[derive(Template)]
#[template(path = "invitation.html")]
struct InvitationPage {
    page: Layout,
    token: String,
    /// `None`: it is no longer valid.
    invitation: Option<InvitationRow>,
    refused: Option<String>,
}

/// An invitation for the visitor.
pub(super) struct InvitationRow {
    pub(super) id: i64,
    pub(super) title: String,
    pub(super) workspace: String,
    pub(super) role: &'static str,
    pub(super) invited_by: String,
    pub(super) until: String,
}

impl InvitationRow {
    pub(super) fn new(words: &Words, invitation: Invitation) -> Self {
        let invited_by = invitation.invited_by.map(|email| email.to_string());
        Self {
            id: invitation.id,
            title: fill(words.workspace.invitation_to, &invitation.workspace),
            workspace: invitation.workspace.to_string(),
            role: role_word(words, invitation.role),
            invited_by: invited_by.unwrap_or_else(|| "–".to_owned()),
            until: page::time(invitation.expires_at),
        }
    }
}

/// A role in the visitor's language.
pub(super) fn role_word(words: &Words, role: Role) -> &'static str {
    match role {
        Role::Admin => words.workspace.admin,
        Role::Member => words.workspace.member,
        Role::Viewer => words.workspace.viewer,
    }
}

async fn invitation_page(
    app: &App,
    visitor: &Visitor,
    token: &str,
) -> Result<InvitationPage, AppError> {
    let invitation = match app.show_invitation(&visitor.caller, token).await {
        Ok(invitation) => Some(InvitationRow::new(visitor.words(), invitation)),
        Err(AppError::NotFound(Resource::Invitation)) => None,
        Err(error) => return Err(error),
    };
    let page = Layout::new(app, visitor);
    Ok(InvitationPage { page, token: token.to_owned(), invitation, refused: None })
}

/// `GET /app/invitation?token=…`
pub(in crate::web) async fn show(
    PageCall { app, visitor, query, .. }: PageCall,
) -> Result<Response, PageError> {
    let shown = invitation_page(&app, &visitor, query.text("token")).await?;
    let found = shown.invitation.is_some();
    let status = if found { StatusCode::OK } else { StatusCode::NOT_FOUND };
    Ok(page::show_with(status, &shown))
}

/// `POST /app/invitations/accept`, with the number of an invitation or the token of its link.
pub(in crate::web) async fn accept(
    PageCall { app, visitor, .. }: PageCall,
    form: FormData,
) -> Result<Response, PageError> {
    match app.accept_invitation(&visitor.caller, &key(&form)?).await {
        Ok((workspace, _)) => {
            Ok(Redirect::to(&format!("/app/w/{workspace}/settings?note=joined")).into_response())
        }
        Err(error) => refuse(&app, &visitor, &form, error).await,
    }
}

/// `POST /app/invitations/decline`
pub(in crate::web) async fn decline(
    PageCall { app, visitor, .. }: PageCall,
    form: FormData,
) -> Result<Response, PageError> {
    match app.decline_invitation(&visitor.caller, &key(&form)?).await {
        Ok(()) => Ok(Redirect::to("/app/workspaces?note=declined").into_response()),
        Err(error) => refuse(&app, &visitor, &form, error).await,
    }
}

fn key(form: &FormData) -> Result<InvitationKey, AppError> {
    if let Some(token) = form.word("token") {
        return Ok(InvitationKey::Token(token.to_owned()));
    }
    let id = form.text("id").parse().map_err(|_| AppError::NotFound(Resource::Invitation))?;
    Ok(InvitationKey::Id(id))
}

/// The page of the invitation, with what was refused.
async fn refuse(
    app: &App,
    visitor: &Visitor,
    form: &FormData,
    error: AppError,
) -> Result<Response, PageError> {
    let shown = invitation_page(app, visitor, form.text("token")).await?;
    if let AppError::NotFound(Resource::Invitation) = error {
        return Ok(page::show_with(StatusCode::NOT_FOUND, &shown));
    }
    if shown.invitation.is_none() {
        return Err(error.into());
    }
    let refusal = FormErrors::read(error, visitor.words())?;
    let status = refusal.status;
    let refused = Some(refusal.line());
    Ok(page::show_with(status, &InvitationPage { refused, ..shown }))
}
