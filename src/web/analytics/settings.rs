//! `/app/w/{workspace}/settings/analytics`: what the workspace keeps about visitors, and what of its analytics is shared.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{
    AnalyticsShare, App, AppError, ShareRequest, ShareScope, WorkspacePrivacy, share_id,
};
use crate::web::analytics::names::dimension_name;
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::i18n::{AnalyticsWords, Words, fill};
use crate::web::links::WorkspaceView;
use crate::web::page::{self, Layout, Note};
use crate::web::visitor::{LoggedIn, PageCall, Visitor};
use kurz_core::analytics::{AnalyticsMode, Dimension, TextColumn};

const DAY: Duration = Duration::from_hours(24);

/// Dimensions that a workspace can leave out.
const PANELS: [Dimension; 9] = [
    Dimension::Text(TextColumn::Country),
    Dimension::Text(TextColumn::Region),
    Dimension::Text(TextColumn::City),
    Dimension::Text(TextColumn::Referrer),
    Dimension::Text(TextColumn::Browser),
    Dimension::Text(TextColumn::Os),
    Dimension::Text(TextColumn::Device),
    Dimension::Text(TextColumn::Language),
    Dimension::Text(TextColumn::UtmTerm),
];

#[derive(Template)]
#[template(path = "analytics_settings.html")]
struct AnalyticsSettingsPage {
    page: Layout,
    place: WorkspaceView,
    may_manage: bool,
    modes: Vec<ModeOption>,
    keep: String,
    exclude: String,
    panels: Vec<PanelBox>,
    shares: Vec<ShareLine>,
    /// The address of a share that was just made: the only time that it is shown.
    fresh: Option<String>,
    /// What stands in the form of a share.
    scope: &'static str,
    value: String,
    refusal: FormErrors,
}

struct ModeOption {
    value: &'static str,
    name: String,
    is_current: bool,
}

struct PanelBox {
    value: &'static str,
    name: &'static str,
    is_off: bool,
}

struct ShareLine {
    id: String,
    name: String,
    has_password: bool,
    created: String,
    until: Option<String>,
}

const fn mode_name(w: &AnalyticsWords, mode: AnalyticsMode) -> &'static str {
    match mode {
        AnalyticsMode::Off => w.mode_off,
        AnalyticsMode::Aggregate => w.mode_aggregate,
        AnalyticsMode::Events => w.mode_events,
    }
}

fn modes(w: &AnalyticsWords, server: AnalyticsMode, own: Option<AnalyticsMode>) -> Vec<ModeOption> {
    let usual = ModeOption {
        value: "",
        name: fill(w.mode_server, mode_name(w, server)),
        is_current: own.is_none(),
    };
    // Wider ones would be refused.
    let narrower = AnalyticsMode::ALL.into_iter().filter(|mode| *mode <= server);
    let option = |mode: AnalyticsMode| ModeOption {
        value: mode.as_str(),
        name: mode_name(w, mode).to_owned(),
        is_current: own == Some(mode),
    };
    std::iter::once(usual).chain(narrower.map(option)).collect()
}

fn share_line(share: &AnalyticsShare, words: &Words) -> ShareLine {
    let w = &words.analytics;
    let subject = share.subject.as_deref().unwrap_or_default();
    let name = match share.scope.as_str() {
        "link" => format!("{}: {subject}", w.share_link),
        "tag" => format!("{}: {subject}", w.share_tag),
        _ => w.share_workspace.to_owned(),
    };
    ShareLine {
        id: share_id(share),
        name,
        has_password: share.password_hash.is_some(),
        created: page::time(share.created_at),
        until: share.expires_at.map(page::time),
    }
}

async fn settings_page(
    app: &App,
    visitor: &Visitor,
    workspace: &str,
) -> Result<AnalyticsSettingsPage, AppError> {
    let place = WorkspaceView::enter(app, visitor, workspace, "settings").await?;
    let (caller, id, words) = (&visitor.caller, &place.workspace, visitor.words());
    let w = &words.analytics;
    let privacy = app.privacy(caller, id).await?;
    let shares = app.list_shares(caller, id).await?;
    let off = privacy.panels_off.clone().unwrap_or_default();
    let panel = |dimension: Dimension| PanelBox {
        value: dimension.name(),
        name: dimension_name(w, dimension),
        is_off: off.iter().any(|name| name == dimension.name()),
    };
    let days = |keep: Duration| (keep.as_secs() / DAY.as_secs()).to_string();
    Ok(AnalyticsSettingsPage {
        page: Layout::new(app, visitor),
        may_manage: place.may.manage,
        modes: modes(w, app.policy().analytics.mode, privacy.mode),
        keep: privacy.keep.map(days).unwrap_or_default(),
        exclude: privacy.exclude.unwrap_or_default().join("\n"),
        panels: PANELS.map(panel).into(),
        shares: shares.iter().map(|share| share_line(share, words)).collect(),
        fresh: None,
        scope: "workspace",
        value: String::new(),
        refusal: FormErrors::default(),
        place,
    })
}

/// `GET /app/w/{workspace}/settings/analytics`
pub(in crate::web) async fn show(
    PageCall { app, visitor, query, path: workspace }: PageCall<String>,
) -> Result<Response, PageError> {
    let words = visitor.words();
    let note = match query.text("note") {
        "saved" => Some(words.site.saved),
        "removed" => Some(words.site.removed),
        _ => None,
    };
    let mut shown = settings_page(&app, &visitor, &workspace).await?;
    shown.page = shown.page.noting(note.map(Note::plain));
    if let Some(code) = query.word("link") {
        (shown.scope, shown.value) = ("link", code.to_owned());
    } else if let Some(tag) = query.word("tag") {
        (shown.scope, shown.value) = ("tag", tag.to_owned());
    }
    Ok(page::show(&shown))
}

fn back(workspace: &str, note: &str) -> Response {
    Redirect::to(&format!("/app/w/{workspace}/settings/analytics?note={note}")).into_response()
}

/// The settings again, with what was refused.
async fn refuse(
    app: &App,
    visitor: &Visitor,
    workspace: &str,
    error: AppError,
    form: &FormData,
) -> Result<Response, PageError> {
    let refusal = FormErrors::read(error, visitor.words())?;
    let shown = settings_page(app, visitor, workspace).await?;
    let scope = match form.text("scope") {
        "link" => "link",
        "tag" => "tag",
        _ => "workspace",
    };
    let value = form.text("value").to_owned();
    let shown = AnalyticsSettingsPage { scope, value, ..shown };
    Ok(page::show_with(refusal.status, &AnalyticsSettingsPage { refusal, ..shown }))
}

/// `POST /app/w/{workspace}/settings/privacy`
pub(in crate::web) async fn change_privacy(
    State(app): State<Arc<App>>,
    Path(workspace): Path<String>,
    LoggedIn(visitor): LoggedIn,
    form: FormData,
) -> Result<Response, PageError> {
    let id = App::workspace_id(&workspace)?;
    let Ok(days) = form.word("keep").map(str::parse::<u32>).transpose() else {
        let refusal = FormErrors::of("keep", visitor.words().trouble.number_invalid);
        let shown = settings_page(&app, &visitor, &workspace).await?;
        return Ok(page::show_with(refusal.status, &AnalyticsSettingsPage { refusal, ..shown }));
    };
    let lines = |name: &str| {
        let lines = form.text(name).split(['\n', ',']).map(str::trim);
        let lines: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
        Some(lines).filter(|lines| !lines.is_empty())
    };
    let panels: Vec<String> = form.all("panel").map(str::to_owned).collect();
    let before = app.privacy(&visitor.caller, &id).await?;
    let privacy = WorkspacePrivacy {
        mode: AnalyticsMode::parse(form.text("mode")),
        keep: days.map(|days| DAY.saturating_mul(days)),
        exclude: lines("exclude"),
        panels_off: Some(panels).filter(|panels| !panels.is_empty()),
        honour: before.honour,
    };
    match app.change_privacy(&visitor.caller, &id, &privacy).await {
        Ok(()) => Ok(back(&workspace, "saved")),
        Err(error) => refuse(&app, &visitor, &workspace, error, &form).await,
    }
}

/// `POST /app/w/{workspace}/shares`: the page shows the address, this once.
pub(in crate::web) async fn share(
    State(app): State<Arc<App>>,
    Path(workspace): Path<String>,
    LoggedIn(visitor): LoggedIn,
    form: FormData,
) -> Result<Response, PageError> {
    let id = App::workspace_id(&workspace)?;
    let value = form.text("value").trim().to_owned();
    let days = form.word("days").and_then(|days| days.parse::<u32>().ok());
    let request = ShareRequest {
        scope: match form.text("scope") {
            "link" => ShareScope::Link(value),
            "tag" => ShareScope::Tag(value),
            _ => ShareScope::Workspace,
        },
        range: None,
        groups: None,
        filters: Vec::new(),
        password: form.word("password").map(str::to_owned),
        expires_at: days.map(|days| app.now().plus(DAY.saturating_mul(days))),
        index: form.word("index").is_some(),
    };
    match app.create_share(&visitor.caller, &id, &request).await {
        Ok(fresh) => {
            let shown = settings_page(&app, &visitor, &workspace).await?;
            Ok(page::show(&AnalyticsSettingsPage { fresh: Some(fresh.url), ..shown }))
        }
        Err(AppError::NotFound(_)) => {
            let refusal = FormErrors::of("value", visitor.words().trouble.not_found_text);
            let shown = settings_page(&app, &visitor, &workspace).await?;
            let (scope, value) = ("link", form.text("value").to_owned());
            let shown = AnalyticsSettingsPage { scope, value, ..shown };
            Ok(page::show_with(refusal.status, &AnalyticsSettingsPage { refusal, ..shown }))
        }
        Err(error) => refuse(&app, &visitor, &workspace, error, &form).await,
    }
}

/// `POST /app/w/{workspace}/shares/revoke`
pub(in crate::web) async fn revoke(
    State(app): State<Arc<App>>,
    Path(workspace): Path<String>,
    LoggedIn(visitor): LoggedIn,
    form: FormData,
) -> Result<Response, PageError> {
    let id = App::workspace_id(&workspace)?;
    app.revoke_share(&visitor.caller, &id, form.text("id")).await?;
    Ok(back(&workspace, "removed"))
}
