//! The native API: JSON over HTTP, one endpoint a file. `problem` makes every error, `input` reads
//! every request, and the OpenAPI document is made from the endpoints themselves.

pub(crate) mod admin;
pub(crate) mod analytics;
pub(crate) mod auth;
pub(crate) mod call;
pub(crate) mod health;
pub(crate) mod hosts;
pub(crate) mod identity;
pub(crate) mod input;
pub(crate) mod keys;
pub(crate) mod invitations;
pub(crate) mod links;
pub(crate) mod me;
pub(crate) mod members;
pub(crate) mod tags;
pub(crate) mod time;
pub(crate) mod workspaces;

use std::sync::Arc;

use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
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
    modifiers(&Credentials),
    // Unless an endpoint says otherwise.
    security(("bearer" = [])),
    tags(
        (name = "account", description = "Register, sign in and out; one's own account."),
        (name = "keys", description = "Keys for programs that act for a person."),
        (name = "links", description = "Make, find, change and delete links."),
        (name = "analytics", description = "What is known about clicks."),
        (name = "workspaces", description = "Teams' own sets of codes."),
        (name = "members", description = "Who is in a workspace, and with which role."),
        (name = "hosts", description = "The host names a workspace's links answer on."),
        (name = "administration", description = "For those who administer the server."),
        (name = "platform", description = "Totals and health."),
        (name = "adma", description = "The wire shape of Adma, over the same code."),
        (name = "cloudshortener", description = "The wire shape of Cloudshortener, over the same \
                                                 code."),
        (name = "linkforge", description = "The wire shape of Linkforge, over the same code."),
    )
)]
struct Document;

/// How a caller shows who they are.
struct Credentials;

impl Modify for Credentials {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let words = "The token of a sign-in, or an API key (`kurz_…`). On a server that was \
                     started with `--open` nothing is needed.";
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(words));
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("bearer", SecurityScheme::Http(scheme.build()));
    }
}

/// All endpoints, with their descriptions.
pub(crate) fn endpoints() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(links::create::create_in_main))
        .routes(routes!(links::create::create_in_workspace, links::list::list))
        .routes(routes!(links::bulk::bulk))
        .routes(routes!(links::show::show, links::edit::edit, links::delete::delete))
        .routes(routes!(links::restore::restore))
        .routes(routes!(links::aliases::add))
        .routes(routes!(links::aliases::remove))
        .routes(routes!(links::disable::disable))
        .routes(routes!(links::disable::enable))
        .routes(routes!(links::analytics::analytics))
        .routes(routes!(links::qr::qr))
        .routes(routes!(links::rules::rules))
        .routes(routes!(links::simulate::simulate))
        .routes(routes!(links::split::split))
        .routes(routes!(tags::list::list))
        .routes(routes!(tags::rename::rename, tags::delete::delete))
        .routes(routes!(workspaces::create::create, workspaces::list::list))
        .routes(routes!(workspaces::show::show, workspaces::edit::edit, workspaces::delete::delete))
        .routes(routes!(workspaces::restore::restore))
        .routes(routes!(
            workspaces::defaults::show,
            workspaces::defaults::put,
            workspaces::defaults::remove
        ))
        .routes(routes!(hosts::add::add, hosts::list::list))
        .routes(routes!(hosts::remove::remove, hosts::edit::edit))
        .routes(routes!(hosts::check::check))
        .routes(routes!(hosts::approve::approve))
        .routes(routes!(links::claim::claim))
        .routes(routes!(invitations::create::create, invitations::list::list))
        .routes(routes!(invitations::revoke::revoke))
        .routes(routes!(me::invitations::list::list))
        .routes(routes!(me::invitations::accept::accept))
        .routes(routes!(me::invitations::decline::decline))
        .routes(routes!(members::list::list))
        .routes(routes!(members::edit::edit, members::remove::remove))
        .routes(routes!(auth::register::register))
        .routes(routes!(auth::login::login))
        .routes(routes!(auth::logout::logout))
        .routes(routes!(me::show::show, me::delete::delete))
        .routes(routes!(me::password::password))
        .routes(routes!(keys::create::create, keys::list::list))
        .routes(routes!(keys::revoke::revoke))
        .routes(routes!(admin::audit::audit))
        .routes(routes!(admin::reports::list))
        .routes(routes!(admin::reports::dismiss))
        .routes(routes!(admin::users::list))
        .routes(routes!(admin::users::disable))
        .routes(routes!(admin::users::enable))
        .routes(routes!(analytics::report::workspace, analytics::delete::delete))
        .routes(routes!(analytics::report::link))
        .routes(routes!(analytics::events::events))
        .routes(routes!(analytics::export::export))
        .routes(routes!(analytics::live::live))
        .routes(routes!(analytics::orphans::orphans))
        .routes(routes!(analytics::shares::create, analytics::shares::list))
        .routes(routes!(analytics::shares::revoke))
        .routes(routes!(analytics::privacy::show, analytics::privacy::set))
        .routes(routes!(analytics::privacy::show_link, analytics::privacy::set_link))
        .routes(routes!(analytics::admin::platform))
        .routes(routes!(analytics::totals::totals))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::link::Status;

    #[test]
    fn the_document_lets_a_list_be_filtered_by_every_status() {
        let document = serde_json::to_value(endpoints().into_openapi()).unwrap();
        let list = &document["paths"]["/api/v1/workspaces/{workspace}/links"]["get"];
        let parameters = list["parameters"].as_array().unwrap();
        let status = parameters.iter().find(|parameter| parameter["name"] == "status").unwrap();
        let pattern = status["schema"]["pattern"].as_str().unwrap();
        let names: Vec<&str> = pattern.trim_matches(['^', '(', ')', '$']).split('|').collect();
        for one in [Status::Active, Status::Expired, Status::Deleted, Status::Disabled] {
            assert!(names.contains(&one.as_str()), "{pattern} lacks {one:?}");
        }
    }
}
