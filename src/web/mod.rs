//! The pages: rendered on the server, one page a file; they work without scripts. `guard` is the middleware
//! before all of them, `page` the layout, `i18n` the texts.

mod account;
mod admin;
mod app_files;
mod analytics;
mod assets;
mod claim;
mod cookies;
mod docs;
mod errors;
mod form;
mod front;
mod guard;
mod i18n;
mod keys;
mod links;
mod login;
mod open_guard;
mod page;
mod plan_errors;
mod preview;
mod report;
mod site;
mod visible_html;
mod visitor;
mod workspaces;

use std::sync::Arc;

use axum::response::Redirect;
use axum::routing::{MethodRouter, get, post};
use utoipa::openapi::OpenApi;

use crate::app::App;

pub(crate) use analytics::privacy::notice_text;
pub(crate) use guard::guard;
pub use links::csv_cell::cell;
pub(crate) use open_guard::{guard_open_api, guard_open_pages};
pub(crate) use preview::{HostOfRequest, short_address};
pub(crate) use visible_html::VisibleHtml;

/// The pages, by path. The router and the reserved words are both made from this list.
pub fn pages(api: &OpenApi) -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    let mut pages = vec![
        ("/", get(front::front).post(front::shorten)),
        ("/robots.txt", get(site::robots)),
        (app_files::APPLE, get(app_files::apple)),
        (app_files::ANDROID, get(app_files::android)),
        ("/assets/{name}", get(assets::asset)),
        ("/login", get(login::login_page).post(login::login)),
        ("/register", get(login::register_page).post(login::register)),
        ("/app", get(|| async { Redirect::to("/app/w/main") })),
        ("/app/logout", post(login::logout)),
        ("/app/language", post(site::language)),
        ("/app/claim", post(claim::claim)),
        ("/app/account", get(account::account)),
        ("/app/account/password", post(account::password)),
        ("/app/account/sessions", post(account::sessions)),
        ("/app/account/delete", post(account::delete)),
        ("/app/keys", post(account::make_key)),
        ("/app/keys/revoke", post(keys::revoke)),
        ("/app/admin", get(admin::admin)),
        ("/app/admin/users", post(admin::users)),
        (report::PATH, get(report::form_page).post(report::report)),
        ("/app/admin/reports", get(admin::reports::queue).post(admin::reports::settle)),
        ("/app/admin/audit", get(admin::audit::audit)),
        ("/app/workspaces", get(workspaces::list::list).post(workspaces::list::create)),
        ("/app/invitation", get(workspaces::invitations::show)),
        ("/app/invitations/accept", post(workspaces::invitations::accept)),
        ("/app/invitations/decline", post(workspaces::invitations::decline)),
        (analytics::privacy::PATH, get(analytics::privacy::page)),
        ("/s/{token}", get(analytics::share::show).post(analytics::share::unlock)),
        ("/s/{token}/{part}", get(analytics::share::part)),
        ("/api/docs", get(docs::page(api))),
        ("/api/openapi.json", get(docs::openapi(api))),
    ];
    pages.extend(workspace_pages());
    pages
}

/// The pages of a workspace and its links.
fn workspace_pages() -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    use links::{
        bulk, bulk_actions, create, disable, edit, export, list, options, qr, rules, show,
    };
    use workspaces::{settings, tags};
    vec![
        ("/app/w/{workspace}", get(list::list)),
        ("/app/w/{workspace}/new", get(create::page).post(create::create)),
        ("/app/w/{workspace}/bulk", get(bulk::page).post(bulk::bulk)),
        ("/app/w/{workspace}/bulk.json", post(bulk::part)),
        ("/app/w/{workspace}/many", post(bulk_actions::bulk_actions)),
        ("/app/w/{workspace}/export.csv", get(export::csv)),
        ("/app/w/{workspace}/export.json", get(export::json)),
        ("/app/w/{workspace}/l/{code}", get(show::show)),
        ("/app/w/{workspace}/l/{code}/edit", get(edit::page).post(edit::edit)),
        ("/app/w/{workspace}/l/{code}/rules", get(rules::editor::page).post(rules::editor::edit)),
        ("/app/w/{workspace}/l/{code}/rules/change", post(rules::editor::change)),
        (
            "/app/w/{workspace}/l/{code}/try",
            get(rules::simulator::page).post(rules::simulator::attempt),
        ),
        ("/app/w/{workspace}/l/{code}/options", get(options::page).post(options::edit)),
        ("/app/w/{workspace}/l/{code}/delete", post(edit::delete)),
        ("/app/w/{workspace}/l/{code}/restore", post(edit::restore)),
        ("/app/w/{workspace}/l/{code}/archive", post(edit::archive)),
        ("/app/w/{workspace}/l/{code}/aliases", post(edit::add_alias)),
        ("/app/w/{workspace}/l/{code}/aliases/remove", post(edit::remove_alias)),
        ("/app/w/{workspace}/l/{code}/disable", post(disable::disable)),
        ("/app/w/{workspace}/l/{code}/enable", post(disable::enable)),
        ("/app/w/{workspace}/l/{code}/qr", get(qr::qr)),
        ("/app/w/{workspace}/l/{code}/analytics", get(analytics::link)),
        ("/app/w/{workspace}/l/{code}/analytics/{part}", get(analytics::link_part)),
        ("/app/w/{workspace}/analytics", get(analytics::workspace)),
        ("/app/w/{workspace}/analytics/{part}", get(analytics::workspace_part)),
        ("/app/w/{workspace}/settings/analytics", get(analytics::settings::show)),
        ("/app/w/{workspace}/settings/privacy", post(analytics::settings::change_privacy)),
        ("/app/w/{workspace}/shares", post(analytics::settings::share)),
        ("/app/w/{workspace}/shares/revoke", post(analytics::settings::revoke)),
        ("/app/w/{workspace}/settings", get(settings::settings).post(settings::change)),
        ("/app/w/{workspace}/settings/defaults", post(settings::change_defaults)),
        ("/app/w/{workspace}/invitations", post(settings::invite)),
        ("/app/w/{workspace}/invitations/revoke", post(settings::revoke_invitation)),
        ("/app/w/{workspace}/members/change", post(settings::change_member)),
        ("/app/w/{workspace}/hosts", post(settings::add_host)),
        ("/app/w/{workspace}/hosts/check", post(settings::check_host)),
        ("/app/w/{workspace}/hosts/approve", post(settings::approve_host)),
        ("/app/w/{workspace}/hosts/remove", post(settings::remove_host)),
        ("/app/w/{workspace}/hosts/edit", post(settings::edit_host)),
        ("/app/w/{workspace}/tags", get(tags::list).post(tags::change)),
        ("/app/w/{workspace}/keys", post(settings::make_key)),
        ("/app/w/{workspace}/delete", post(settings::delete)),
    ]
}
