//! The analytics pages: a dashboard of a workspace, a link, or what is shared of them, with the lists behind its cards
//! and the map. One renderer for all of them; it works without scripts, and every figure is a link to its filter.

mod cards;
mod chart;
mod controls;
mod dashboard;
mod figures;
pub(super) mod filters;
mod heatmap;
mod list;
mod live;
mod live_stream;
mod map;
mod map_page;
pub(super) mod names;
mod news;
mod orphans;
pub(super) mod privacy;
mod questions;
#[cfg(test)]
mod sample;
pub(super) mod settings;
pub(super) mod share;
mod subject;

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};
use url::form_urlencoded::Serializer;

use crate::app::{App, AppError, Resource};
use crate::web::analytics::cards::PageScope;
use crate::web::analytics::dashboard::{DashboardView, PageHead};
use crate::web::analytics::filters::Asked;
use crate::web::analytics::subject::{Asker, PageSubject};
use crate::web::errors::PageError;
use crate::web::form::FormData;
use crate::web::i18n::fill;
use crate::web::links::WorkspaceView;
use crate::web::page::{self, Layout};
use crate::web::visitor::{PageCall, Visitor};
use kurz_core::analytics::Dimension;

/// The content security policy of the map as a picture: it has a style of its own and nothing else.
const PICTURE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
);

/// A request for a page of analytics.
struct AnalyticsCall {
    app: Arc<App>,
    visitor: Visitor,
    query: FormData,
    subject: PageSubject,
    head: PageHead,
}

/// `GET /app/w/{workspace}/analytics`
pub(super) async fn workspace(
    PageCall { app, visitor, query, path }: PageCall<String>,
) -> Result<Response, PageError> {
    of_workspace(app, visitor, query, &path).await?.answer("").await
}

/// `GET /app/w/{workspace}/analytics/{part}`
pub(super) async fn workspace_part(
    PageCall { app, visitor, query, path: (workspace, part) }: PageCall<(String, String)>,
) -> Result<Response, PageError> {
    of_workspace(app, visitor, query, &workspace).await?.answer(&part).await
}

/// `GET /app/w/{workspace}/l/{code}/analytics`
pub(super) async fn link(
    PageCall { app, visitor, query, path: (workspace, code) }: PageCall<(String, String)>,
) -> Result<Response, PageError> {
    of_link(app, visitor, query, (&workspace, &code)).await?.answer("").await
}

/// `GET /app/w/{workspace}/l/{code}/analytics/{part}`
pub(super) async fn link_part(
    PageCall { app, visitor, query, path }: PageCall<(String, String, String)>,
) -> Result<Response, PageError> {
    let (workspace, code, part) = path;
    of_link(app, visitor, query, (&workspace, &code)).await?.answer(&part).await
}

/// Dimensions that a workspace does not show.
async fn hidden(
    app: &App,
    workspace: &kurz_core::code::WorkspaceId,
) -> Result<Vec<Dimension>, AppError> {
    let names = app.hidden_panels(workspace).await?;
    Ok(names.iter().filter_map(|name| Dimension::parse(name)).collect())
}

async fn of_workspace(
    app: Arc<App>,
    visitor: Visitor,
    query: FormData,
    workspace: &str,
) -> Result<AnalyticsCall, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, workspace, "analytics").await?;
    let asker = Asker::Account {
        caller: Box::new(visitor.caller.clone()),
        workspace: place.workspace.clone(),
        code: None,
    };
    let hidden = hidden(&app, &place.workspace).await?;
    let head = PageHead {
        title: place.title.clone(),
        crumb: None,
        base: format!("{}/analytics", place.base),
        is_shared: false,
        may_index: false,
        range: None,
        settings: place.may.manage.then(|| format!("{}/settings/analytics", place.base)),
        place: Some(place),
    };
    Ok(AnalyticsCall { app, visitor, query, subject: PageSubject { asker, hidden }, head })
}

async fn of_link(
    app: Arc<App>,
    visitor: Visitor,
    query: FormData,
    (workspace, code): (&str, &str),
) -> Result<AnalyticsCall, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, workspace, "").await?;
    let shown = app.show_link(&visitor.caller, &place.workspace, code).await?;
    let code = shown.link.code.to_string();
    let name = shown.link.fields.title.unwrap_or_else(|| code.clone());
    let base = place.link(&code);
    let hidden = hidden(&app, &place.workspace).await?;
    let may_share = place.may.manage || (place.is_main && place.may.manage_links);
    let head = PageHead {
        title: fill(visitor.words().analytics.title_of, &name),
        crumb: Some((base.clone(), shown.short_url)),
        base: format!("{base}/analytics"),
        is_shared: false,
        may_index: false,
        range: None,
        settings: may_share.then(|| format!("{}/settings/analytics?link={code}", place.base)),
        place: None,
    };
    let caller = Box::new(visitor.caller.clone());
    let asker = Asker::Account { caller, workspace: place.workspace, code: Some(code) };
    Ok(AnalyticsCall { app, visitor, query, subject: PageSubject { asker, hidden }, head })
}

impl AnalyticsCall {
    /// The dashboard, or a part of it.
    async fn answer(self, part: &str) -> Result<Response, PageError> {
        let Self { app, visitor, query, subject, mut head } = self;
        let mut asked = Asked::read(&query);
        if let Some(range) = &head.range {
            asked = asked.days(range, "");
        }
        // What is shared of a dashboard of one tag is that tag.
        let settings = head.settings.as_mut().filter(|_| subject.scope() == PageScope::Workspace);
        if let Some((settings, tag)) = settings.zip(asked.only_tag()) {
            let query = Serializer::new(String::new()).append_pair("tag", &tag).finish();
            *settings = format!("{settings}?{query}");
        }
        let specs = cards::specs(subject.scope(), |dimension| subject.shows(dimension));
        let view = DashboardView {
            asked: &asked,
            language: visitor.language,
            words: visitor.words(),
            specs: &specs,
        };
        let layout = if head.is_shared {
            Layout { path: visitor.path.clone(), ..Layout::bare(visitor.words()) }
        } else {
            Layout::new(&app, &visitor)
        };
        match part {
            "" => {
                let reports = questions::reports(&app, &subject, &asked, &specs).await?;
                Ok(page::show(&view.page(layout, head, &reports)))
            }
            "list" => Ok(list::page(&app, &subject, &query, &view, (layout, head)).await?),
            "list.csv" => Ok(list::csv(&app, &subject, &query, &asked).await?),
            "live" if head.range.is_none() => {
                let auto = query.word("auto").is_some();
                Ok(live::page(&app, &subject, &view, (layout, head), auto).await?)
            }
            "stream" => Ok(live_stream::answer(app, &subject, &asked).await?),
            "orphans" => Ok(orphans::page(&app, &subject, &view, (layout, head)).await?),
            "orphans.csv" => Ok(orphans::csv(&app, &subject, &asked).await?),
            "map" => Ok(map_page::page(&app, &subject, &view, (layout, head)).await?),
            "map.svg" => {
                let as_picture = query.word("inline").is_none();
                let svg = map_page::picture(&app, &subject, &view, &head.base, as_picture).await?;
                Ok(picture(svg))
            }
            _ => Err(AppError::NotFound(Resource::Page).into()),
        }
    }
}

fn picture(svg: String) -> Response {
    let headers: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml")),
        (header::CONTENT_SECURITY_POLICY, PICTURE_POLICY),
        // Going back and forth does not ask again.
        (header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=60")),
    ];
    (headers, svg).into_response()
}
