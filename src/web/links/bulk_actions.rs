//! `POST /app/w/{workspace}/many`: the same for all links that were selected.

use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{App, AppError, LinkPatch};
use crate::web::errors::PageError;
use crate::web::form::FormData;
use crate::web::links::WorkspaceView;
use crate::web::links::edit::archive_patch;
use crate::web::site::own_path;
use crate::web::visitor::{PageCall, Visitor};
use kurz_core::link::field_text::read_tags;
use kurz_core::link::{Change, LinkFieldChanges};

/// Most links of one call: as many as a page can hold.
const MOST: usize = 1000;

/// `POST /app/w/{workspace}/many`
pub(in crate::web) async fn bulk_actions(
    PageCall { app, visitor, path: workspace, .. }: PageCall<String>,
    form: FormData,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "list").await?;
    let tags = read_tags(form.text("tag"));
    let (mut done, mut failed) = (0_u32, 0_u32);
    for code in form.all("code").take(MOST) {
        match act(&app, &visitor, &place, code, form.text("action"), &tags).await {
            Ok(()) => done += 1,
            Err(AppError::Store(error)) => return Err(AppError::Store(error).into()),
            Err(_) => failed += 1,
        }
    }
    let back = own_path(form.text("back")).filter(|back| back.starts_with(&place.base));
    let back = back.unwrap_or(&place.base);
    let mark = if back.contains('?') { '&' } else { '?' };
    Ok(Redirect::to(&format!("{back}{mark}done={done}&failed={failed}")).into_response())
}

async fn act(
    app: &App,
    visitor: &Visitor,
    place: &WorkspaceView,
    code: &str,
    action: &str,
    tags: &[String],
) -> Result<(), AppError> {
    let (caller, workspace) = (&visitor.caller, &place.workspace);
    match action {
        "delete" => app.delete_link(caller, workspace, code).await.map(|_| ()),
        "restore" => app.restore_link(caller, workspace, code).await.map(|_| ()),
        "archive" | "unarchive" => {
            let patch = archive_patch(action == "archive");
            app.edit_link(caller, workspace, code, &patch).await.map(|_| ())
        }
        "tag" | "untag" => {
            let mut now = app.show_link(caller, workspace, code).await?.link.fields.tags;
            now.retain(|tag| !tags.contains(tag));
            if action == "tag" {
                now.extend_from_slice(tags);
            }
            let tags = Change::To(Some(now));
            let fields = LinkFieldChanges { tags, ..LinkFieldChanges::default() };
            let patch = LinkPatch { fields, ..LinkPatch::default() };
            app.edit_link(caller, workspace, code, &patch).await.map(|_| ())
        }
        _ => Ok(()),
    }
}
