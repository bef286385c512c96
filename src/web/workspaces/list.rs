//! `/app/workspaces`: the workspaces that one is in, and the form for another.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{App, AppError, ShownWorkspace, WorkspacePatch};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::links::strategy_word;
use crate::web::page::{self, Layout, Note};
use crate::web::visitor::{PageCall, Visitor};

#[derive(Template)]
#[template(path = "workspaces.html")]
struct WorkspacesPage {
    page: Layout,
    workspaces: Vec<WorkspaceRow>,
    next: Option<String>,
    id: String,
    refusal: FormErrors,
}

struct WorkspaceRow {
    id: String,
    strategy: &'static str,
    hosts: String,
}

async fn workspaces_page(
    app: &App,
    visitor: &Visitor,
    after: Option<&str>,
) -> Result<WorkspacesPage, AppError> {
    let words = visitor.words();
    let found = app.list_workspaces(&visitor.caller, after, None).await?;
    let row = |shown: ShownWorkspace| WorkspaceRow {
        id: shown.workspace.id.to_string(),
        strategy: strategy_word(words, shown.workspace.strategy),
        hosts: if shown.hosts.is_empty() { "–".to_owned() } else { shown.hosts.join(", ") },
    };
    Ok(WorkspacesPage {
        page: Layout::new(app, visitor),
        workspaces: found.items.into_iter().map(row).collect(),
        next: found.next,
        id: String::new(),
        refusal: FormErrors::default(),
    })
}

/// `GET /app/workspaces`
pub(in crate::web) async fn list(
    PageCall { app, visitor, query, .. }: PageCall,
) -> Result<Response, PageError> {
    let mut shown = workspaces_page(&app, &visitor, query.word("after")).await?;
    let removed = query.word("note").filter(|note| *note == "removed");
    let note = removed.map(|_| Note::plain(visitor.words().workspace.removed));
    shown.page = shown.page.noting(note);
    Ok(page::show(&shown))
}

/// `POST /app/workspaces`
pub(in crate::web) async fn create(
    PageCall { app, visitor, .. }: PageCall,
    form: FormData,
) -> Result<Response, PageError> {
    let given = form.text("id").trim();
    let made = match App::workspace_id(given) {
        Ok(id) => app.create_workspace(&visitor.caller, id, &WorkspacePatch::default()).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(made) => {
            let id = made.workspace.id;
            Ok(Redirect::to(&format!("/app/w/{id}/settings?note=made")).into_response())
        }
        Err(error) => {
            let refusal = FormErrors::read(error, visitor.words())?;
            let status = refusal.status;
            let shown = workspaces_page(&app, &visitor, None).await?;
            let id = given.to_owned();
            Ok(page::show_with(status, &WorkspacesPage { id, refusal, ..shown }))
        }
    }
}
