//! The root of the server: leads to the documentation, since that is the page there is.

use axum::response::Redirect;

/// `/`
pub(super) async fn home() -> Redirect {
    Redirect::to("/api/docs")
}

/// `/robots.txt`: short links are for people, not for indexes.
pub(super) async fn robots() -> &'static str {
    "User-agent: *\nDisallow: /\n"
}
