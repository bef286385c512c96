//! `/app/w/{workspace}/tags`: the tags of a workspace's links, or of one's own in `main`.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{App, AppError, TagCount};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::links::WorkspaceView;
use crate::web::page::{self, Layout, Note};
use crate::web::visitor::{PageCall, Visitor};

const PAGE: i64 = 100;

#[derive(Template)]
#[template(path = "tags.html")]
struct TagsPage {
    page: Layout,
    place: WorkspaceView,
    tags: Vec<TagRow>,
    next: Option<String>,
    refusal: FormErrors,
}

struct TagRow {
    tag: String,
    /// The list of its links.
    href: String,
    links: String,
    clicks: String,
}

async fn tags_page(
    app: &App,
    visitor: &Visitor,
    workspace: &str,
    cursor: Option<&str>,
) -> Result<TagsPage, AppError> {
    let place = WorkspaceView::enter(app, visitor, workspace, "tags").await?;
    let found = app.list_tags(&visitor.caller, &place.workspace, true, cursor, Some(PAGE)).await?;
    let row = |count: TagCount| TagRow {
        href: place.tagged(&count.tag),
        tag: count.tag,
        links: page::number(count.links),
        clicks: page::number(count.clicks),
    };
    Ok(TagsPage {
        page: Layout::new(app, visitor),
        tags: found.items.into_iter().map(row).collect(),
        next: found.next.map(|cursor| format!("{}/tags?cursor={cursor}", place.base)),
        refusal: FormErrors::default(),
        place,
    })
}

/// `GET /app/w/{workspace}/tags`
pub(in crate::web) async fn list(
    PageCall { app, visitor, query, path: workspace }: PageCall<String>,
) -> Result<Response, PageError> {
    let words = visitor.words();
    let note = match query.text("note") {
        "saved" => Some(words.site.saved),
        "removed" => Some(words.site.removed),
        _ => None,
    };
    let mut shown = tags_page(&app, &visitor, &workspace, query.word("cursor")).await?;
    shown.page = shown.page.noting(note.map(Note::plain));
    Ok(page::show(&shown))
}

/// `POST /app/w/{workspace}/tags`: another name, or none.
pub(in crate::web) async fn change(
    PageCall { app, visitor, path: workspace, .. }: PageCall<String>,
    form: FormData,
) -> Result<Response, PageError> {
    let id = App::workspace_id(&workspace)?;
    let (caller, tag) = (&visitor.caller, form.text("tag"));
    let done = if form.text("action") == "delete" {
        app.delete_tag(caller, &id, tag).await.map(|()| "removed")
    } else {
        app.rename_tag(caller, &id, tag, form.text("name")).await.map(|_| "saved")
    };
    match done {
        Ok(note) => Ok(Redirect::to(&format!("/app/w/{id}/tags?note={note}")).into_response()),
        Err(error) => {
            let refusal = FormErrors::read(error, visitor.words())?.in_general(&["name"]);
            let shown = tags_page(&app, &visitor, &workspace, None).await?;
            Ok(page::show_with(refusal.status, &TagsPage { refusal, ..shown }))
        }
    }
}
