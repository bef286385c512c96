//! `/app/w/{workspace}/l/{code}/edit`, and deleting and restoring a link.

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
    Ok(LinkPatch {
        original_url: is_retargeted.then(|| with_scheme(&after.original_url)),
        fields: after.changes(before, words)?,
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
            Ok(_) => {
                let page = place.link(&code);
                return Ok(Redirect::to(&format!("{page}?note=saved")).into_response());
            }
            Err(error) => FormErrors::read(error, words)?,
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
