//! `/app/w/{workspace}/l/{code}/edit`, and deleting and restoring a link.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{App, Change, LinkPatch, LinkRequest};
use crate::web::failure::{Failure, Refusal};
use crate::web::form::Form;
use crate::web::links::create::{Fields, FormPage};
use crate::web::links::{Place, write_time};
use crate::web::page::{self, Page};
use crate::web::visitor::{Member, Visitor};
use crate::web::words::fill;
use kurz_core::link::Link;

fn form_page(app: &App, visitor: &Visitor, place: Place, code: &str, form: Fields) -> FormPage {
    let page = place.link(code);
    FormPage {
        page: Page::new(app, visitor),
        title: fill(visitor.language.words().links.edit_title, code),
        action: format!("{page}/edit"),
        back: page,
        place,
        code: Some(code.to_owned()),
        form,
        refusal: Refusal::default(),
    }
}

fn fields(link: &Link) -> Fields {
    Fields {
        original_url: link.target.clone(),
        custom_code: String::new(),
        strategy: String::new(),
        title: link.title.clone().unwrap_or_default(),
        tags: link.tags.join(", "),
        expires_at: link.expires_at.map(write_time).unwrap_or_default(),
        hit_limit: link.hit_limit.map(|limit| limit.to_string()).unwrap_or_default(),
        redirect_status: link.redirect_status.to_string(),
    }
}

/// What is different from the link: what was not touched stays exactly as it is.
fn patch(before: &Fields, after: &Fields, request: LinkRequest) -> LinkPatch {
    fn change<T>(differs: bool, value: T) -> Change<T> {
        if differs { Change::To(value) } else { Change::Keep }
    }
    LinkPatch {
        original_url: (before.original_url != after.original_url).then_some(request.original_url),
        title: change(before.title != after.title, request.title),
        tags: change(before.tags != after.tags, Some(request.tags)),
        expires_at: change(before.expires_at != after.expires_at, request.expires_at),
        hit_limit: change(before.hit_limit != after.hit_limit, request.hit_limit),
        redirect_status: change(
            before.redirect_status != after.redirect_status,
            request.redirect_status,
        ),
    }
}

/// `GET /app/w/{workspace}/l/{code}/edit`
pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path((workspace, code)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let place = Place::enter(&app, &visitor, &workspace, "").await?;
    let shown = app.show_link(&visitor.caller, &place.workspace, &code).await?;
    Ok(page::show(&form_page(&app, &visitor, place, &code, fields(&shown.link))))
}

/// `POST /app/w/{workspace}/l/{code}/edit`
pub(in crate::web) async fn edit(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path((workspace, code)): Path<(String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let place = Place::enter(&app, &visitor, &workspace, "").await?;
    let words = visitor.language.words();
    let shown = app.show_link(&visitor.caller, &place.workspace, &code).await?;
    let (before, after) = (fields(&shown.link), Fields::read(&form));
    let refusal = match after.request(words) {
        Err(refusal) => refusal,
        Ok(request) => {
            let patch = patch(&before, &after, request);
            match app.edit_link(&visitor.caller, &place.workspace, &code, &patch).await {
                Ok(_) => {
                    let page = place.link(&code);
                    return Ok(Redirect::to(&format!("{page}?note=saved")).into_response());
                }
                Err(error) => Refusal::read(error, words)?,
            }
        }
    };
    let status = refusal.status;
    let page = form_page(&app, &visitor, place, &code, after);
    Ok(page::show_with(status, &FormPage { refusal, ..page }))
}

/// `POST /app/w/{workspace}/l/{code}/delete`: back to the list, where it can be undone.
pub(in crate::web) async fn delete(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path((workspace, code)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let place = Place::enter(&app, &visitor, &workspace, "").await?;
    app.delete_link(&visitor.caller, &place.workspace, &code).await?;
    Ok(Redirect::to(&format!("{}?deleted={code}", place.base)).into_response())
}

/// `POST /app/w/{workspace}/l/{code}/restore`
pub(in crate::web) async fn restore(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path((workspace, code)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let place = Place::enter(&app, &visitor, &workspace, "").await?;
    app.restore_link(&visitor.caller, &place.workspace, &code).await?;
    Ok(Redirect::to(&format!("{}?note=restored", place.link(&code))).into_response())
}
