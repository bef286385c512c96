//! Pages for people.

mod docs;
mod home;
mod page;
mod preview;

use std::sync::Arc;

use axum::routing::{MethodRouter, get};
use utoipa::openapi::OpenApi;

use crate::app::App;

pub use preview::{HostOfRequest, short_address};

/// The pages, by path. The router and the reserved words are both made from this list.
pub fn pages(api: &OpenApi) -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    vec![
        ("/", get(home::home)),
        ("/robots.txt", get(home::robots)),
        ("/api/docs", get(docs::page(api))),
        ("/api/openapi.json", get(docs::openapi(api))),
    ]
}
