//! The native API: JSON over HTTP, one endpoint a file. `problem` makes every error, `input` reads
//! every request, and the OpenAPI document is made from the endpoints themselves.

pub(crate) mod health;
pub(crate) mod hosts;
pub(crate) mod input;
pub(crate) mod links;
pub(crate) mod stats;
pub(crate) mod time;
pub(crate) mod workspaces;

use std::sync::Arc;

use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// What the OpenAPI document says about the API as a whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "kurz",
        description = "A URL shortener: deterministic codes for teams, counter codes for volume, \
                       accounts for people. Times are RFC 3339 in UTC. Every error is an \
                       `application/problem+json` with a stable `code`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "links", description = "Make, find, change and delete links."),
        (name = "workspaces", description = "Teams' own sets of codes."),
        (name = "hosts", description = "The host names a workspace's links answer on."),
        (name = "platform", description = "Totals and health."),
    )
)]
struct Document;

/// All endpoints, with their descriptions.
pub fn endpoints() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(links::create::create_in_main))
        .routes(routes!(links::create::create_in_workspace, links::list::list))
        .routes(routes!(links::bulk::bulk))
        .routes(routes!(links::show::show, links::edit::edit, links::delete::delete))
        .routes(routes!(links::restore::restore))
        .routes(routes!(links::stats::stats))
        .routes(routes!(workspaces::create::create, workspaces::list::list))
        .routes(routes!(workspaces::show::show, workspaces::edit::edit, workspaces::delete::delete))
        .routes(routes!(hosts::add::add, hosts::list::list))
        .routes(routes!(hosts::remove::remove))
        .routes(routes!(stats::stats))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
}
