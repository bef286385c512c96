//! `/app/w/{workspace}/bulk`: many links at once, one line for each (`bulk_lines`), a result for each. The script
//! sends the lines in parts and shows the progress; without it they are sent in one form.

use askama::Template;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::app::{App, AppError, Created, LinkRequest};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::{FormData, ScriptJson};
use crate::web::i18n::{Words, fill};
use crate::web::links::WorkspaceView;
use crate::web::links::bulk_lines::{ColumnNames, read_line};
use crate::web::page::{self, Layout};
use crate::web::visitor::{PageCall, Visitor};
use kurz_core::visible_text::visible;

const MOST: usize = 1000;

#[derive(Template)]
#[template(path = "bulk.html")]
struct BulkPage {
    page: Layout,
    place: WorkspaceView,
    lines: String,
    refusal: FormErrors,
    results: Vec<LineResult>,
    summary: String,
}

#[derive(Debug, Serialize)]
struct LineResult {
    line: usize,
    url: String,
    short_url: Option<String>,
    text: String,
}

/// Some lines, the number of the first, and the first line of all, which may name the columns.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct BulkPart {
    lines: Vec<String>,
    first: usize,
    #[serde(default)]
    header: String,
}

fn bulk_page(app: &App, visitor: &Visitor, place: WorkspaceView) -> BulkPage {
    BulkPage {
        page: Layout::new(app, visitor),
        place,
        lines: String::new(),
        refusal: FormErrors::default(),
        results: Vec::new(),
        summary: String::new(),
    }
}

/// `GET /app/w/{workspace}/bulk`
pub(in crate::web) async fn page(
    PageCall { app, visitor, path: workspace, .. }: PageCall<String>,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "bulk").await?;
    Ok(page::show(&bulk_page(&app, &visitor, place)))
}

/// `POST /app/w/{workspace}/bulk`
pub(in crate::web) async fn bulk(
    PageCall { app, visitor, path: workspace, .. }: PageCall<String>,
    form: FormData,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "bulk").await?;
    let words = visitor.words();
    let text = form.text("lines").to_owned();
    // Numbered as in the field; empty ones are left out.
    let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    let lines: Vec<(usize, &str)> = lines.filter(|(_, line)| !line.is_empty()).collect();
    if !(1..=MOST).contains(&lines.len()) {
        let refusal = FormErrors::of("lines", words.trouble.bulk_size);
        let page = bulk_page(&app, &visitor, place);
        return Ok(page::show_with(refusal.status, &BulkPage { lines: text, refusal, ..page }));
    }
    let names = lines.first().and_then(|(_, line)| ColumnNames::read(line));
    let lines = lines.get(usize::from(names.is_some())..).unwrap_or_default();
    let results = make(&app, &visitor, &place, lines, names.as_ref()).await?;
    let made = results.iter().filter(|result| result.short_url.is_some()).count();
    let done = fill(words.links.bulk_done, made);
    let refused = fill(words.links.bulk_refused, results.len() - made);
    let summary = format!("{done}, {refused}");
    Ok(page::show(&BulkPage { results, summary, ..bulk_page(&app, &visitor, place) }))
}

/// `POST /app/w/{workspace}/bulk.json`: a part of them, for the script.
pub(in crate::web) async fn part(
    PageCall { app, visitor, path: workspace, .. }: PageCall<String>,
    ScriptJson(part): ScriptJson<BulkPart>,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "bulk").await?;
    let lines = part.lines.iter().enumerate().take(MOST);
    let lines = lines.map(|(at, line)| (part.first.saturating_add(at), line.trim()));
    let names = ColumnNames::read(part.header.trim());
    // The line with the names is the first of all.
    let lines: Vec<(usize, &str)> =
        lines.filter(|(number, _)| names.is_none() || *number > 1).collect();
    let results = make(&app, &visitor, &place, &lines, names.as_ref()).await?;
    Ok(axum::Json(results).into_response())
}

async fn make(
    app: &App,
    visitor: &Visitor,
    place: &WorkspaceView,
    lines: &[(usize, &str)],
    names: Option<&ColumnNames>,
) -> Result<Vec<LineResult>, AppError> {
    let words = visitor.words();
    let requests: Vec<LinkRequest> = lines.iter().map(|(_, line)| read_line(line, names)).collect();
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let made = app.create_links(&visitor.caller, &place.workspace, &requests, false).await?;
    let results = lines.iter().zip(requests).zip(made);
    Ok(results
        .map(|(((line, _), request), made)| {
            // The script shows it as it is.
            result(*line, visible(&request.original_url).into_owned(), made, words)
        })
        .collect())
}

fn result(line: usize, url: String, made: Result<Created, AppError>, words: &Words) -> LineResult {
    match made {
        Ok(Created { link, is_new, .. }) => {
            let text = if is_new { words.links.is_new } else { words.links.is_old };
            LineResult { line, url, short_url: Some(link.short_url), text: text.to_owned() }
        }
        Err(error) => {
            let text = FormErrors::read(error, words);
            let text =
                text.map_or_else(|_| words.trouble.broken.to_owned(), |refusal| refusal.line());
            LineResult { line, url, short_url: None, text }
        }
    }
}
