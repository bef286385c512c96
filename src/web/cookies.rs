//! Cookies: the session, the chosen language, and what stands for the password of shared analytics.
//!
//! Over https, and on a loopback address, which browsers trust as much, the session's cookie is
//! `__Host-kurz`: sent over secure connections only, to this host only, and no other host can set
//! it. A server whose public URL is plain http elsewhere has no secure connections; its cookie is
//! called `kurz`, and whoever listens to the network can take it.

use http::{HeaderMap, HeaderValue, header};

use crate::app::{App, SESSION_LIFE};

const SHARE: &str = "kurz-share";
const LANGUAGE: &str = "kurz-language";
/// For how many seconds the choice is kept: a year.
const LANGUAGE_SECONDS: u64 = 365 * 24 * 60 * 60;

/// Whether browsers keep cookies of this server to secure connections.
fn is_secure(app: &App) -> bool {
    let url = &app.policy().public_url;
    let host = url.host();
    let loopback = host == "localhost" || host == "[::1]" || host.starts_with("127.");
    url.scheme() == "https" || loopback
}

fn session_name(app: &App) -> &'static str {
    if is_secure(app) { "__Host-kurz" } else { "kurz" }
}

/// The secret of the session, if the browser sent one.
pub(super) fn session<'a>(app: &App, headers: &'a HeaderMap) -> Option<&'a str> {
    find(headers, session_name(app))
}

/// The language that was chosen in this browser.
pub(super) fn language(headers: &HeaderMap) -> Option<&str> {
    find(headers, LANGUAGE)
}

/// Keep a session; every sign-in gives a new one.
pub(super) fn keep_session(app: &App, secret: &str) -> HeaderValue {
    write(session_name(app), secret, SESSION_LIFE.as_secs(), is_secure(app))
}

pub(super) fn drop_session(app: &App) -> HeaderValue {
    write(session_name(app), "", 0, is_secure(app))
}

pub(super) fn keep_language(app: &App, code: &str) -> HeaderValue {
    write(LANGUAGE, code, LANGUAGE_SECONDS, is_secure(app))
}

/// What stands for the password of a share, on its own pages.
pub(super) fn share_pass(headers: &HeaderMap) -> Option<&str> {
    find(headers, SHARE)
}

/// Keep it for as long as a session; `token` is that of a share that exists.
pub(super) fn keep_share_pass(app: &App, token: &str, pass: &str) -> HeaderValue {
    let path = format!("/s/{token}");
    write_at(&path, (SHARE, pass), SESSION_LIFE.as_secs(), is_secure(app))
}

fn write(name: &str, value: &str, seconds: u64, secure: bool) -> HeaderValue {
    write_at("/", (name, value), seconds, secure)
}

fn write_at(path: &str, (name, value): (&str, &str), seconds: u64, secure: bool) -> HeaderValue {
    let secure = if secure { "; Secure" } else { "" };
    let text =
        format!("{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).expect("secrets and codes of languages are plain ASCII")
}

fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_by_its_whole_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=1; xkurz=2; kurz=3"));
        headers.append(header::COOKIE, HeaderValue::from_static("__Host-kurz=4;broken; kurz=5"));
        assert_eq!(find(&headers, "kurz"), Some("3"));
        assert_eq!(find(&headers, "__Host-kurz"), Some("4"));
        assert_eq!(find(&headers, "b"), None);
    }
}
