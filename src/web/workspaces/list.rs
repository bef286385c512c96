//! `/app/workspaces`: the workspaces that one is in, and the form for another.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{App, AppError, ShownWorkspace, WorkspacePatch};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::links::strategy_word;
use crate::web::page::{self, Layout, Note};
use crate::web::visitor::{PageCall, Visitor};
use crate::web::workspaces::invitations::InvitationRow;

#[derive(Template)]
#[template(path = "workspaces.html")]
struct WorkspacesPage {
    page: Layout,
    /// Invitations for the visitor, and whether accepting takes the link.
    invitations: Vec<(InvitationRow, bool)>,
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
    // Somebody on an open server may be nobody.
    let received = match &visitor.browser {
        Some(_) => app.list_received_invitations(&visitor.caller).await?,
        None => Vec::new(),
    };
    let invitations = received
        .into_iter()
        .map(|one| (InvitationRow::new(words, one.invitation), one.needs_link))
        .collect();
    Ok(WorkspacesPage {
        invitations,
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
    let words = &visitor.words().workspace;
    let note = match query.text("note") {
        "removed" => Some(words.removed),
        "declined" => Some(words.declined),
        _ => None,
    };
    shown.page = shown.page.noting(note.map(Note::plain));
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
