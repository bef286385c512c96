//! `/robots.txt`, and the choice of a language.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use http::header::SET_COOKIE;

use crate::app::App;
use crate::language::Language;
use crate::web::cookies;
use crate::web::form::FormData;

/// `/robots.txt`: short links are for people, not for indexes. Shared analytics say themselves whether they may be
/// listed.
pub(super) async fn robots() -> &'static str {
    "User-agent: *\nAllow: /s/\nDisallow: /\n"
}

/// `POST /app/language`: keep the choice, and go back.
pub(super) async fn language(State(app): State<Arc<App>>, form: FormData) -> Response {
    let next = Redirect::to(own_path(form.text("next")).unwrap_or("/"));
    match Language::parse(form.text("language")) {
        Some(language) => {
            let cookie = cookies::keep_language(&app, language.code());
            (AppendHeaders([(SET_COOKIE, cookie)]), next).into_response()
        }
        None => next.into_response(),
    }
}

/// A page to go on to after signing in: the front page, or one of `/app`. Other paths of this server can be
/// short links, which lead elsewhere.
pub(super) fn page_path(text: &str) -> Option<&str> {
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let inside = path == "/app" || path.starts_with("/app/");
    // Browsers resolve dots, also encoded ones; no page has a percent sign in its path.
    let plain = !path.contains('%') && !path.split('/').any(|part| part == "." || part == "..");
    own_path(text).filter(|_| plain && (inside || text == "/"))
}

/// A path of this server, and nothing that a browser takes for another one.
pub(super) fn own_path(text: &str) -> Option<&str> {
    let odd = |c: char| c.is_control() || c == '\\';
    let own = text.starts_with('/') && !text.starts_with("//") && !text.contains(odd);
    (own && text.is_ascii()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // threats: C15
    #[test]
    fn after_signing_in_one_goes_on_to_pages_only() {
        for good in [
            "/",
            "/app",
            "/app/",
            "/app/account",
            "/app?x=/../code",
            "/app/w/main?q=%2F%2Fevil.example#../x",
        ] {
            assert_eq!(page_path(good), Some(good));
        }
        let bad = [
            "",
            "/code",
            "/code+",
            "/apple",
            "/app2",
            "/application/x",
            "/App",
            "/w/main/code",
            "//host",
            "/\\host",
            "/app/../code",
            "/app/..",
            "/app/./../code",
            "/app/%2e%2e/code",
            "/app/%2E./code",
            "/app/.%2e/code",
            "/app%2f..",
            "/app%2f../code",
            "/app/..%2fcode",
            "/app/%2f..",
            "/app\\..\\code",
            "/./code",
            "/../code",
            "/?next=/code",
            "/#x",
            "/login",
            "/register",
            "/api/docs",
            "app",
            "https://host/app",
            "/app/\t../code",
        ];
        for bad in bad {
            assert_eq!(page_path(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn only_own_paths_are_gone_on_to() {
        for good in ["/", "/app", "/app/w/main?q=%2F%2Fevil.example"] {
            assert_eq!(own_path(good), Some(good));
        }
        let bad = [
            "",
            "app",
            "//evil.example",
            "/\\evil.example",
            "/a\\b",
            "\\\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/\n",
            "/ä",
        ];
        for bad in bad {
            assert_eq!(own_path(bad), None, "{bad:?}");
        }
    }
}
