//! Pages for people: made on the server, one page a file; a script adds comfort. `guard` stands
//! before all of them, `page` is the frame around them, `words` holds what they say.

mod account;
mod admin;
mod assets;
mod audit;
mod claim;
mod cookies;
mod docs;
mod failure;
mod form;
mod front;
mod guard;
mod home;
mod keys;
mod links;
mod page;
mod preview;
mod report;
mod sign;
mod visitor;
mod words;
mod workspace;
mod workspaces;

use std::sync::Arc;

use axum::response::Redirect;
use axum::routing::{MethodRouter, get, post};
use utoipa::openapi::OpenApi;

use crate::app::App;

pub use guard::guard;
pub use links::cell::cell;
pub use preview::{HostOfRequest, short_address};

/// The pages, by path. The router and the reserved words are both made from this list.
pub fn pages(api: &OpenApi) -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    let mut pages = vec![
        ("/", get(front::front).post(front::shorten)),
        ("/robots.txt", get(home::robots)),
        ("/assets/{name}", get(assets::asset)),
        ("/login", get(sign::login_page).post(sign::login)),
        ("/register", get(sign::register_page).post(sign::register)),
        ("/app", get(|| async { Redirect::to("/app/w/main") })),
        ("/app/logout", post(sign::logout)),
        ("/app/language", post(home::language)),
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
        ("/app/admin/reports", get(report::queue).post(report::settle)),
        ("/app/admin/audit", get(audit::audit)),
        ("/app/workspaces", get(workspaces::workspaces).post(workspaces::create)),
        ("/api/docs", get(docs::page(api))),
        ("/api/openapi.json", get(docs::openapi(api))),
    ];
    pages.extend(workspace_pages());
    pages
}

/// The pages of a workspace and its links.
fn workspace_pages() -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    use links::{bulk, create, disable, edit, export, list, many, picture, show};
    vec![
        ("/app/w/{workspace}", get(list::list)),
        ("/app/w/{workspace}/new", get(create::page).post(create::create)),
        ("/app/w/{workspace}/bulk", get(bulk::page).post(bulk::bulk)),
        ("/app/w/{workspace}/bulk.json", post(bulk::part)),
        ("/app/w/{workspace}/many", post(many::many)),
        ("/app/w/{workspace}/export.csv", get(export::csv)),
        ("/app/w/{workspace}/export.json", get(export::json)),
        ("/app/w/{workspace}/l/{code}", get(show::show)),
        ("/app/w/{workspace}/l/{code}/edit", get(edit::page).post(edit::edit)),
        ("/app/w/{workspace}/l/{code}/delete", post(edit::delete)),
        ("/app/w/{workspace}/l/{code}/restore", post(edit::restore)),
        ("/app/w/{workspace}/l/{code}/disable", post(disable::disable)),
        ("/app/w/{workspace}/l/{code}/enable", post(disable::enable)),
        ("/app/w/{workspace}/l/{code}/qr", get(picture::picture)),
        ("/app/w/{workspace}/settings", get(workspace::settings).post(workspace::change)),
        ("/app/w/{workspace}/members", post(workspace::add_member)),
        ("/app/w/{workspace}/members/change", post(workspace::change_member)),
        ("/app/w/{workspace}/hosts", post(workspace::add_host)),
        ("/app/w/{workspace}/hosts/remove", post(workspace::remove_host)),
        ("/app/w/{workspace}/keys", post(workspace::make_key)),
        ("/app/w/{workspace}/delete", post(workspace::delete)),
    ]
}
