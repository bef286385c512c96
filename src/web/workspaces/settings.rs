//! `/app/w/{workspace}/settings`: how codes are made, limits, members, hosts, keys.

use std::sync::Arc;

use askama::Template;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::Value;

use crate::app::{
    App, AppError, Change, HostPatch, Invitation, Member, Resource, ShownHost, WorkspacePatch,
};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::front::with_scheme;
use crate::web::i18n::fill;
use crate::web::keys::Keys;
use crate::web::links::WorkspaceView;
use crate::web::links::option_form::OptionForm;
use crate::web::links::plan_page::plan_changes;
use crate::web::page::{self, Layout, Note};
use crate::web::visitor::{PageCall, Visitor};
use crate::web::workspaces::invitations::role_word;
use kurz_core::account::Role;
use kurz_core::code::WorkspaceId;
use kurz_core::plan::{PlanDefaults, PlanField};

const MEMBERS: i64 = 1000;

#[derive(Template)]
#[template(path = "workspace.html")]
struct SettingsPage {
    page: Layout,
    place: WorkspaceView,
    may_manage: bool,
    strategy: &'static str,
    hit_limit: String,
    members: Vec<MemberRow>,
    invitations: Vec<PendingRow>,
    fresh_invitation: Option<FreshLink>,
    hosts: Vec<ShownHost>,
    /// Whether the visitor may consent to hosts without a proof.
    may_approve: bool,
    keys: Keys,
    refusal: FormErrors,
    /// What links do that say nothing themselves.
    form: OptionForm,
    /// What stands in the fields of refused forms.
    member_email: String,
    host: String,
}

struct MemberRow {
    email: String,
    name: String,
    role: &'static str,
    is_me: bool,
}

/// An invitation that waits for an answer.
struct PendingRow {
    id: i64,
    email: String,
    role: &'static str,
    until: String,
}

/// The link of an invitation that was just made: the only time that it is shown.
struct FreshLink {
    text: String,
    url: String,
}

async fn settings_page(
    app: &App,
    visitor: &Visitor,
    workspace: &str,
) -> Result<SettingsPage, AppError> {
    let place = WorkspaceView::enter(app, visitor, workspace, "settings").await?;
    let (caller, id) = (&visitor.caller, &place.workspace);
    let shown = app.show_workspace(caller, id).await?;
    let members = app.list_members(caller, id, None, Some(MEMBERS)).await?.items;
    let me = caller.owner();
    let row = |member: Member| MemberRow {
        is_me: Some(member.user) == me,
        email: member.email.to_string(),
        name: member.name,
        role: member.role.as_str(),
    };
    let pending =
        if place.may.manage { app.list_invitations(caller, id).await? } else { Vec::new() };
    let words = visitor.words();
    let pending_row = |one: Invitation| PendingRow {
        id: one.id,
        email: one.email.to_string(),
        role: role_word(words, one.role),
        until: page::time(one.expires_at),
    };
    let keys = match &visitor.browser {
        Some(_) => Keys::read(app, caller, visitor.words(), Some(id.as_str())).await?,
        None => Keys::default(),
    };
    Ok(SettingsPage {
        page: Layout::new(app, visitor),
        may_manage: place.may.manage,
        strategy: shown.workspace.strategy.as_str(),
        hit_limit: shown.workspace.hit_limit.map(|limit| limit.to_string()).unwrap_or_default(),
        members: members.into_iter().map(row).collect(),
        invitations: pending.into_iter().map(pending_row).collect(),
        fresh_invitation: None,
        hosts: app.list_hosts(caller, id).await?,
        form: OptionForm::of(&defaults_json(app, visitor, id).await?, visitor.language),
        may_approve: caller.identity().is_some_and(|identity| identity.is_admin),
        keys,
        refusal: FormErrors::default(),
        member_email: String::new(),
        host: String::new(),
        place,
    })
}

/// `GET /app/w/{workspace}/settings`
pub(in crate::web) async fn settings(
    PageCall { app, visitor, query, path: workspace }: PageCall<String>,
) -> Result<Response, PageError> {
    let words = visitor.words();
    let note = match query.text("note") {
        "made" => Some(words.workspace.made),
        "saved" => Some(words.site.saved),
        "host" => Some(words.workspace.host_active),
        "pending" => Some(words.workspace.host_pending),
        "removed" => Some(words.site.removed),
        "revoked" => Some(words.account.revoked),
        "joined" => Some(words.workspace.joined),
        _ => None,
    };
    let mut shown = settings_page(&app, &visitor, &workspace).await?;
    shown.page = shown.page.noting(note.map(Note::plain));
    Ok(page::show(&shown))
}

/// A form of the settings that was sent.
pub(in crate::web) struct SettingsForm {
    app: Arc<App>,
    visitor: Visitor,
    workspace: WorkspaceId,
    form: FormData,
}

impl FromRequest<Arc<App>> for SettingsForm {
    type Rejection = Response;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let call = PageCall::<String>::from_request_parts(&mut parts, app).await?;
        let form = FormData::from_request(Request::from_parts(parts, body), app).await;
        let form = form.map_err(IntoResponse::into_response)?;
        let workspace = App::workspace_id(&call.path).map_err(PageError::from);
        let workspace = workspace.map_err(IntoResponse::into_response)?;
        Ok(Self { app: call.app, visitor: call.visitor, workspace, form })
    }
}

impl SettingsForm {
    async fn page(&self) -> Result<SettingsPage, AppError> {
        settings_page(&self.app, &self.visitor, self.workspace.as_str()).await
    }

    /// Back to the settings with a note, or the settings with what was refused.
    async fn finish(&self, done: Result<&str, AppError>) -> Result<Response, PageError> {
        match done {
            Ok(note) => {
                let back = format!("/app/w/{}/settings?note={note}", self.workspace);
                Ok(Redirect::to(&back).into_response())
            }
            Err(error) => {
                let urls = ["home_url", "not_found_url", "invalid_code_url"];
                let refusal = FormErrors::read(error, self.visitor.words())?.in_general(&urls);
                let shown = SettingsPage {
                    member_email: self.form.text("email").to_owned(),
                    host: self.form.text("host").to_owned(),
                    ..self.page().await?
                };
                Ok(page::show_with(refusal.status, &SettingsPage { refusal, ..shown }))
            }
        }
    }
}

/// `POST /app/w/{workspace}/settings`
pub(in crate::web) async fn change(sent: SettingsForm) -> Result<Response, PageError> {
    let SettingsForm { app, visitor, workspace, form } = &sent;
    let Ok(limit) = form.word("hit_limit").map(str::parse).transpose() else {
        let refusal = FormErrors::of("hit_limit", visitor.words().trouble.number_invalid);
        let shown = sent.page().await?;
        return Ok(page::show_with(refusal.status, &SettingsPage { refusal, ..shown }));
    };
    let strategy = form.text("strategy").parse().ok();
    let patch = WorkspacePatch { strategy, hit_limit: Change::To(limit) };
    let done = app.edit_workspace(&visitor.caller, workspace, &patch).await;
    sent.finish(done.map(|_| "saved")).await
}

/// The defaults of the links of a workspace, as the API shows them.
pub(in crate::web) async fn defaults_json(
    app: &App,
    visitor: &Visitor,
    workspace: &WorkspaceId,
) -> Result<Value, AppError> {
    let defaults = app.link_defaults(&visitor.caller, workspace).await?;
    Ok(serde_json::from_str(&defaults.document().to_json()).unwrap_or_default())
}

/// `POST /app/w/{workspace}/settings/defaults`
pub(in crate::web) async fn change_defaults(sent: SettingsForm) -> Result<Response, PageError> {
    let SettingsForm { app, visitor, workspace, form } = &sent;
    let form = OptionForm::read(form, visitor.language);
    let value = |field: PlanField| (field.name().to_owned(), form.json(field.name()));
    let values = Value::Object(PlanDefaults::FIELDS.into_iter().map(value).collect());
    let changes = plan_changes(&PlanDefaults::FIELDS, &values)?;
    let Err(error) = app.set_link_defaults(&visitor.caller, workspace, &changes).await else {
        return sent.finish(Ok("saved")).await;
    };
    let refusal = FormErrors::read(error, visitor.words())?;
    let (status, form) = (refusal.status, form.marked(refusal.clone().into_fields()));
    Ok(page::show_with(status, &SettingsPage { refusal, form, ..sent.page().await? }))
}

/// `POST /app/w/{workspace}/invitations`: the page shows the link, this once.
pub(in crate::web) async fn invite(sent: SettingsForm) -> Result<Response, PageError> {
    let SettingsForm { app, visitor, workspace, form } = &sent;
    let role = form.text("role").parse().unwrap_or(Role::Member);
    let email = form.text("email").trim();
    match app.invite_member(&visitor.caller, workspace, email, role).await {
        Ok(fresh) => {
            let text = fill(visitor.words().workspace.invited, &fresh.invitation.email);
            let fresh_invitation = Some(FreshLink { text, url: fresh.url });
            Ok(page::show(&SettingsPage { fresh_invitation, ..sent.page().await? }))
        }
        Err(error) => sent.finish(Err(error)).await,
    }
}

/// `POST /app/w/{workspace}/invitations/revoke`
pub(in crate::web) async fn revoke_invitation(sent: SettingsForm) -> Result<Response, PageError> {
    let SettingsForm { app, visitor, workspace, form } = &sent;
    let id = form.text("id").parse().map_err(|_| AppError::NotFound(Resource::Invitation))?;
    let done = app.revoke_invitation(&visitor.caller, workspace, id).await;
    sent.finish(done.map(|()| "removed")).await
}

/// `POST /app/w/{workspace}/members/change`: another role, or out.
pub(in crate::web) async fn change_member(sent: SettingsForm) -> Result<Response, PageError> {
    let SettingsForm { app, visitor, workspace, form } = &sent;
    let email = form.text("email");
    if form.text("action") == "remove" {
        let leaves = visitor.caller.identity().is_some_and(|me| me.email.as_str() == email);
        let done = app.remove_member(&visitor.caller, workspace, email).await;
        if leaves && done.is_ok() {
            return Ok(Redirect::to("/app/workspaces").into_response());
        }
        return sent.finish(done.map(|()| "removed")).await;
    }
    let role = form.text("role").parse().unwrap_or(Role::Viewer);
    let done = app.change_role(&visitor.caller, workspace, email, role).await;
    sent.finish(done.map(|_| "saved")).await
}

/// `POST /app/w/{workspace}/hosts`
pub(in crate::web) async fn add_host(sent: SettingsForm) -> Result<Response, PageError> {
    let host = sent.form.text("host").trim();
    let done = sent.app.add_host(&sent.visitor.caller, &sent.workspace, host).await;
    let note = |host: ShownHost| if host.pending.is_some() { "pending" } else { "host" };
    sent.finish(done.map(note)).await
}

/// `POST /app/w/{workspace}/hosts/check`: look for the proof now.
pub(in crate::web) async fn check_host(sent: SettingsForm) -> Result<Response, PageError> {
    let host = sent.form.text("host");
    let done = sent.app.check_host(&sent.visitor.caller, &sent.workspace, host).await;
    sent.finish(done.map(|_| "host")).await
}

/// `POST /app/w/{workspace}/hosts/approve`
pub(in crate::web) async fn approve_host(sent: SettingsForm) -> Result<Response, PageError> {
    let host = sent.form.text("host");
    let done = sent.app.approve_host(&sent.visitor.caller, &sent.workspace, host).await;
    sent.finish(done.map(|_| "host")).await
}

/// `POST /app/w/{workspace}/hosts/remove`
pub(in crate::web) async fn remove_host(sent: SettingsForm) -> Result<Response, PageError> {
    let host = sent.form.text("host");
    let done = sent.app.remove_host(&sent.visitor.caller, &sent.workspace, host).await;
    sent.finish(done.map(|()| "removed")).await
}

/// `POST /app/w/{workspace}/hosts/edit`
pub(in crate::web) async fn edit_host(sent: SettingsForm) -> Result<Response, PageError> {
    let SettingsForm { app, visitor, workspace, form } = &sent;
    let url = |name| Change::To(form.word(name).map(with_scheme));
    let patch = HostPatch {
        home_url: url("home_url"),
        not_found_url: url("not_found_url"),
        invalid_code_url: url("invalid_code_url"),
    };
    let done = app.edit_host(&visitor.caller, workspace, form.text("host"), &patch).await;
    sent.finish(done.map(|_| "saved")).await
}

/// `POST /app/w/{workspace}/keys`: a key that is good here alone.
pub(in crate::web) async fn make_key(sent: SettingsForm) -> Result<Response, PageError> {
    let shown = sent.page().await?;
    let SettingsForm { app, visitor, workspace, form } = &sent;
    let only = Some(workspace.as_str());
    let keys = Keys::make(app, &visitor.caller, visitor.words(), form, only).await?;
    Ok(page::show_with(keys.status(), &SettingsPage { keys, ..shown }))
}

/// `POST /app/w/{workspace}/delete`
pub(in crate::web) async fn delete(sent: SettingsForm) -> Result<Response, PageError> {
    match sent.app.delete_workspace(&sent.visitor.caller, &sent.workspace).await {
        Ok(()) => Ok(Redirect::to("/app/workspaces?note=removed").into_response()),
        Err(error) => sent.finish(Err(error)).await,
    }
}
