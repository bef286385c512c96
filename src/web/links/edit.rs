//! `/app/w/{workspace}/l/{code}/edit`, and deleting, restoring and archiving a link, and its aliases.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{App, LinkPatch};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::front::with_scheme;
use crate::web::i18n::{Words, fill};
use crate::web::links::WorkspaceView;
use crate::web::links::create::{FormFields, FormPage};
use crate::web::page::{self, Layout};
use crate::web::visitor::{LoggedIn, Visitor};
use kurz_core::link::{Change, LinkFieldChanges};

fn form_page(
    app: &App,
    visitor: &Visitor,
    place: WorkspaceView,
    code: &str,
    form: FormFields,
) -> FormPage {
    let page = place.link(code);
    FormPage {
        page: Layout::new(app, visitor),
        title: fill(visitor.words().links.edit_title, code),
        action: format!("{page}/edit"),
        back: page,
        place,
        code: Some(code.to_owned()),
        form,
        refusal: FormErrors::default(),
    }
}

/// What is different from the link: what was not touched stays exactly as it is.
fn patch(before: &FormFields, after: &FormFields, words: &Words) -> Result<LinkPatch, FormErrors> {
    let is_retargeted = before.original_url != after.original_url;
    // An empty field asks for nothing.
    let is_renamed = !after.custom_code.is_empty() && before.custom_code != after.custom_code;
    Ok(LinkPatch {
        short_code: is_renamed.then(|| after.custom_code.clone()),
        original_url: is_retargeted.then(|| with_scheme(&after.original_url)),
        fields: after.changes(before, words)?,
        ..LinkPatch::default()
    })
}

/// `GET /app/w/{workspace}/l/{code}/edit`
pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    LoggedIn(visitor): LoggedIn,
    Path((workspace, code)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "").await?;
    let shown = app.show_link(&visitor.caller, &place.workspace, &code).await?;
    Ok(page::show(&form_page(&app, &visitor, place, &code, FormFields::of(&shown.link))))
}

/// `POST /app/w/{workspace}/l/{code}/edit`
pub(in crate::web) async fn edit(
    State(app): State<Arc<App>>,
    LoggedIn(visitor): LoggedIn,
    Path((workspace, code)): Path<(String, String)>,
    form: FormData,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "").await?;
    let words = visitor.words();
    let shown = app.show_link(&visitor.caller, &place.workspace, &code).await?;
    let (before, after) = (FormFields::of(&shown.link), FormFields::read(&form));
    let refusal = match patch(&before, &after, words) {
        Err(refusal) => refusal,
        Ok(patch) => match app.edit_link(&visitor.caller, &place.workspace, &code, &patch).await {
            Ok(shown) => {
                let page = place.link(shown.link.code.as_str());
                return Ok(Redirect::to(&format!("{page}?note=saved")).into_response());
            }
            Err(error) => FormErrors::read(error, words)?.renamed("short_code", "custom_code"),
        },
    };
    let status = refusal.status;
    let page = form_page(&app, &visitor, place, &code, after);
    Ok(page::show_with(status, &FormPage { refusal, ..page }))
}

/// `POST /app/w/{workspace}/l/{code}/delete`: back to the list, where it can be undone.
pub(in crate::web) async fn delete(
    State(app): State<Arc<App>>,
    LoggedIn(visitor): LoggedIn,
    Path((workspace, code)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "").await?;
    app.delete_link(&visitor.caller, &place.workspace, &code).await?;
    Ok(Redirect::to(&format!("{}?deleted={code}", place.base)).into_response())
}

/// `POST /app/w/{workspace}/l/{code}/archive`: put it away, or back.
pub(in crate::web) async fn archive(
    State(app): State<Arc<App>>,
    LoggedIn(visitor): LoggedIn,
    Path((workspace, code)): Path<(String, String)>,
    form: FormData,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "").await?;
    let patch = archive_patch(form.text("archived") == "true");
    app.edit_link(&visitor.caller, &place.workspace, &code, &patch).await?;
    Ok(Redirect::to(&format!("{}?note=saved", place.link(&code))).into_response())
}

pub(super) fn archive_patch(is_archived: bool) -> LinkPatch {
    let archived_at = Change::To(Some(is_archived));
    let fields = LinkFieldChanges { archived_at, ..LinkFieldChanges::default() };
    LinkPatch { fields, ..LinkPatch::default() }
}

/// `POST /app/w/{workspace}/l/{code}/aliases`
pub(in crate::web) async fn add_alias(
    State(app): State<Arc<App>>,
    LoggedIn(visitor): LoggedIn,
    Path((workspace, code)): Path<(String, String)>,
    form: FormData,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "").await?;
    let alias = form.text("alias").trim();
    app.add_alias(&visitor.caller, &place.workspace, &code, alias).await?;
    Ok(Redirect::to(&format!("{}?note=saved", place.link(&code))).into_response())
}

/// `POST /app/w/{workspace}/l/{code}/aliases/remove`
pub(in crate::web) async fn remove_alias(
    State(app): State<Arc<App>>,
    LoggedIn(visitor): LoggedIn,
    Path((workspace, code)): Path<(String, String)>,
    form: FormData,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "").await?;
    let alias = form.text("alias");
    app.remove_alias(&visitor.caller, &place.workspace, &code, alias).await?;
    Ok(Redirect::to(&format!("{}?note=saved", place.link(&code))).into_response())
}

/// `POST /app/w/{workspace}/l/{code}/restore`
pub(in crate::web) async fn restore(
    State(app): State<Arc<App>>,
    LoggedIn(visitor): LoggedIn,
    Path((workspace, code)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "").await?;
    app.restore_link(&visitor.caller, &place.workspace, &code).await?;
    Ok(Redirect::to(&format!("{}?note=restored", place.link(&code))).into_response())
}
