//! `/app/w/{workspace}/settings`: how codes are made, limits, members, hosts, keys.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::{StatusCode, Uri};

use crate::app::{App, AppError, Change, Member as MemberOf, WorkspacePatch};
use crate::web::failure::{Failure, Refusal};
use crate::web::form::Form;
use crate::web::keys::Keys;
use crate::web::links::Place;
use crate::web::page::{self, Note, Page};
use crate::web::visitor::{Member, Visitor};
use kurz_core::account::Role;

/// Members that are shown.
const MEMBERS: i64 = 1000;

#[derive(Template)]
#[template(path = "workspace.html")]
struct SettingsPage {
    page: Page,
    place: Place,
    may_manage: bool,
    strategy: &'static str,
    hit_limit: String,
    members: Vec<MemberRow>,
    hosts: Vec<String>,
    keys: Keys,
    refusal: Refusal,
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

async fn settings_page(
    app: &App,
    visitor: &Visitor,
    workspace: &str,
) -> Result<SettingsPage, AppError> {
    let place = Place::enter(app, visitor, workspace, "settings").await?;
    let (caller, id) = (&visitor.caller, &place.workspace);
    let shown = app.show_workspace(caller, id).await?;
    let members = app.list_members(caller, id, None, Some(MEMBERS)).await?.members;
    let me = caller.owner();
    let row = |member: MemberOf| MemberRow {
        is_me: Some(member.user) == me,
        email: member.email.to_string(),
        name: member.name,
        role: member.role.as_str(),
    };
    let keys = match &visitor.browser {
        Some(_) => Keys::read(app, caller, visitor.language.words(), Some(id.as_str())).await?,
        None => Keys::default(),
    };
    Ok(SettingsPage {
        page: Page::new(app, visitor),
        may_manage: place.may.manage,
        strategy: shown.workspace.strategy.as_str(),
        hit_limit: shown.workspace.hit_limit.map(|limit| limit.to_string()).unwrap_or_default(),
        members: members.into_iter().map(row).collect(),
        hosts: shown.hosts,
        keys,
        refusal: Refusal::default(),
        member_email: String::new(),
        host: String::new(),
        place,
    })
}

/// `GET /app/w/{workspace}/settings`
pub(super) async fn settings(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path(workspace): Path<String>,
    uri: Uri,
) -> Result<Response, Failure> {
    let query = Form::parse(uri.query().unwrap_or_default().as_bytes());
    let words = visitor.language.words();
    let note = match query.text("note") {
        "made" => Some(words.workspace.made),
        "saved" => Some(words.site.saved),
        "removed" => Some(words.site.removed),
        "revoked" => Some(words.account.revoked),
        _ => None,
    };
    let mut shown = settings_page(&app, &visitor, &workspace).await?;
    shown.page = shown.page.noting(note.map(Note::plain));
    Ok(page::show(&shown))
}

/// Back to the settings with a note, or the settings with what was refused.
async fn finish(
    app: &App,
    visitor: &Visitor,
    workspace: &str,
    form: &Form,
    done: Result<&str, AppError>,
) -> Result<Response, Failure> {
    match done {
        Ok(note) => {
            let back = format!("/app/w/{workspace}/settings?note={note}");
            Ok(Redirect::to(&back).into_response())
        }
        Err(error) => {
            let refusal = Refusal::read(error, visitor.language.words())?;
            let status = refusal.status;
            let shown = settings_page(app, visitor, workspace).await?;
            let (member_email, host) =
                (form.text("email").to_owned(), form.text("host").to_owned());
            Ok(page::show_with(status, &SettingsPage { refusal, member_email, host, ..shown }))
        }
    }
}

/// `POST /app/w/{workspace}/settings`
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path(workspace): Path<String>,
    form: Form,
) -> Result<Response, Failure> {
    let id = App::workspace_id(&workspace)?;
    let limit = form.word("hit_limit").map(str::parse).transpose();
    let Ok(limit) = limit else {
        let text = visitor.language.words().trouble.number_invalid;
        let refusal = Refusal::of("hit_limit", text);
        let shown = settings_page(&app, &visitor, &workspace).await?;
        return Ok(page::show_with(refusal.status, &SettingsPage { refusal, ..shown }));
    };
    let strategy = form.text("strategy").parse().ok();
    let patch = WorkspacePatch { strategy, hit_limit: Change::To(limit) };
    let done = app.edit_workspace(&visitor.caller, &id, &patch).await;
    finish(&app, &visitor, &workspace, &form, done.map(|_| "saved")).await
}

/// `POST /app/w/{workspace}/members`
pub(super) async fn add_member(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path(workspace): Path<String>,
    form: Form,
) -> Result<Response, Failure> {
    let id = App::workspace_id(&workspace)?;
    let role = form.text("role").parse().unwrap_or(Role::Member);
    let done = app.add_member(&visitor.caller, &id, form.text("email").trim(), role).await;
    finish(&app, &visitor, &workspace, &form, done.map(|_| "saved")).await
}

/// `POST /app/w/{workspace}/members/change`: another role, or out.
pub(super) async fn change_member(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path(workspace): Path<String>,
    form: Form,
) -> Result<Response, Failure> {
    let id = App::workspace_id(&workspace)?;
    let email = form.text("email");
    if form.text("action") == "remove" {
        let leaves = visitor.caller.identity().is_some_and(|me| me.email.as_str() == email);
        let done = app.remove_member(&visitor.caller, &id, email).await;
        if leaves && done.is_ok() {
            return Ok(Redirect::to("/app/workspaces").into_response());
        }
        return finish(&app, &visitor, &workspace, &form, done.map(|()| "removed")).await;
    }
    let role = form.text("role").parse().unwrap_or(Role::Viewer);
    let done = app.change_role(&visitor.caller, &id, email, role).await;
    finish(&app, &visitor, &workspace, &form, done.map(|_| "saved")).await
}

/// `POST /app/w/{workspace}/hosts`
pub(super) async fn add_host(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path(workspace): Path<String>,
    form: Form,
) -> Result<Response, Failure> {
    let id = App::workspace_id(&workspace)?;
    let done = app.add_host(&visitor.caller, &id, form.text("host").trim()).await;
    finish(&app, &visitor, &workspace, &form, done.map(|_| "saved")).await
}

/// `POST /app/w/{workspace}/hosts/remove`
pub(super) async fn remove_host(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path(workspace): Path<String>,
    form: Form,
) -> Result<Response, Failure> {
    let id = App::workspace_id(&workspace)?;
    let done = app.remove_host(&visitor.caller, &id, form.text("host")).await;
    finish(&app, &visitor, &workspace, &form, done.map(|()| "removed")).await
}

/// `POST /app/w/{workspace}/keys`: a key that is good here alone.
pub(super) async fn make_key(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path(workspace): Path<String>,
    form: Form,
) -> Result<Response, Failure> {
    let words = visitor.language.words();
    let shown = settings_page(&app, &visitor, &workspace).await?;
    let keys = Keys::make(&app, &visitor.caller, words, &form, Some(&workspace)).await?;
    let refused = keys.refused.is_some();
    let status = if refused { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(page::show_with(status, &SettingsPage { keys, ..shown }))
}

/// `POST /app/w/{workspace}/delete`
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path(workspace): Path<String>,
    form: Form,
) -> Result<Response, Failure> {
    let id = App::workspace_id(&workspace)?;
    match app.delete_workspace(&visitor.caller, &id).await {
        Ok(()) => Ok(Redirect::to("/app/workspaces?note=removed").into_response()),
        Err(error) => finish(&app, &visitor, &workspace, &form, Err(error)).await,
    }
}
