//! `/app/account`: the password, the signed-in browsers, the keys, and the way out.

use askama::Template;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::SET_COOKIE;

use crate::app::{App, AppError, Browser, BrowserSession, Resource};
use crate::web::cookies;
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::i18n::fill;
use crate::web::keys::Keys;
use crate::web::login::agent;
use crate::web::page::{self, Layout, Note};
use crate::web::visitor::{PageCall, Visitor};
use kurz_core::account::Refused;

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    page: Layout,
    email: String,
    name: String,
    since: String,
    sessions: Vec<SessionRow>,
    keys: Keys,
    /// The offer to revoke the keys with a change of the password, if there are any.
    revoke_keys: Option<String>,
    password_refused: Option<String>,
    delete_refused: Option<String>,
}

struct SessionRow {
    id: String,
    agent: String,
    since: String,
    seen: String,
    is_this: bool,
}

/// Somebody on an open server may be nobody.
fn browser(visitor: &Visitor) -> Result<&Browser, AppError> {
    visitor.browser.as_ref().ok_or(AppError::Refused(Refused::NeedsSignIn))
}

async fn account_page(app: &App, visitor: &Visitor) -> Result<AccountPage, AppError> {
    let browser = browser(visitor)?;
    let words = visitor.words();
    let sessions = app.list_sessions(&visitor.caller).await?;
    let row = |session: BrowserSession| SessionRow {
        id: URL_SAFE_NO_PAD.encode(session.hash),
        is_this: session.hash == browser.hash,
        agent: session.agent,
        since: page::time(session.created_at),
        seen: page::time(session.seen_at),
    };
    let keys = Keys::read(app, &visitor.caller, words, None).await?;
    let key_count = Some(keys.list.len()).filter(|count| *count > 0);
    Ok(AccountPage {
        page: Layout::new(app, visitor),
        email: browser.person.email.to_string(),
        name: browser.person.name.clone(),
        since: page::time(browser.person.created_at),
        sessions: sessions.into_iter().map(row).collect(),
        revoke_keys: key_count.map(|count| fill(words.account.revoke_keys, count)),
        keys,
        password_refused: None,
        delete_refused: None,
    })
}

/// `GET /app/account`
pub(super) async fn account(
    PageCall { app, visitor, query, .. }: PageCall,
) -> Result<Response, PageError> {
    let words = &visitor.words().account;
    let note = match query.text("note") {
        "password" => Some(words.password_changed),
        "password-keys" => Some(words.password_changed_keys),
        "password-revoked" => Some(words.password_changed_revoked),
        "ended" => Some(words.session_ended),
        "revoked" => Some(words.revoked),
        _ => None,
    };
    let mut account = account_page(&app, &visitor).await?;
    account.page = account.page.noting(note.map(Note::plain));
    Ok(page::show(&account))
}

/// `POST /app/account/password`: all other browsers are signed out; this one gets a new secret.
pub(super) async fn password(
    PageCall { app, visitor, .. }: PageCall,
    headers: HeaderMap,
    form: FormData,
) -> Result<Response, PageError> {
    let (current, new) = (form.text("current"), form.text("new"));
    let revoke_keys = form.word("revoke_keys").is_some();
    match app.change_password(&visitor.caller, current, new, revoke_keys).await {
        Ok(changed) => {
            let secret = app.open_session(&changed.session.person, agent(&headers)).await?;
            let cookie = cookies::keep_session(&app, &secret);
            let note = match (changed.active_keys, changed.revoked_keys) {
                (1.., _) => "password-keys",
                (_, 1..) => "password-revoked",
                _ => "password",
            };
            let back = Redirect::to(&format!("/app/account?note={note}"));
            Ok((AppendHeaders([(SET_COOKIE, cookie)]), back).into_response())
        }
        Err(error) => {
            let refusal = FormErrors::read(error, visitor.words())?;
            let account = account_page(&app, &visitor).await?;
            let password_refused = Some(refusal.line());
            Ok(page::show_with(refusal.status, &AccountPage { password_refused, ..account }))
        }
    }
}

/// `POST /app/account/sessions`: sign one browser out, or all.
pub(super) async fn sessions(
    PageCall { app, visitor, .. }: PageCall,
    form: FormData,
) -> Result<Response, PageError> {
    let this = browser(&visitor)?.hash;
    let out = || {
        let cookie = cookies::drop_session(&app);
        Ok((AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to("/login")).into_response())
    };
    if form.word("all").is_some() {
        app.log_out(&visitor.caller).await?;
        return out();
    }
    let hash = URL_SAFE_NO_PAD.decode(form.text("id")).ok();
    let hash = hash.and_then(|hash| <[u8; 32]>::try_from(hash).ok());
    let hash = hash.ok_or(AppError::NotFound(Resource::Session))?;
    app.end_session(&visitor.caller, &hash).await?;
    if hash == this {
        return out();
    }
    Ok(Redirect::to("/app/account?note=ended").into_response())
}

/// `POST /app/account/delete`
pub(super) async fn delete(
    PageCall { app, visitor, .. }: PageCall,
    form: FormData,
) -> Result<Response, PageError> {
    match app.delete_account(&visitor.caller, form.text("password")).await {
        Ok(()) => {
            let cookie = cookies::drop_session(&app);
            let bye = Redirect::to("/login?deleted=1");
            Ok((AppendHeaders([(SET_COOKIE, cookie)]), bye).into_response())
        }
        Err(error) => {
            let refusal = FormErrors::read(error, visitor.words())?;
            let account = account_page(&app, &visitor).await?;
            let delete_refused = Some(refusal.line());
            Ok(page::show_with(refusal.status, &AccountPage { delete_refused, ..account }))
        }
    }
}

/// `POST /app/keys`
pub(super) async fn make_key(
    PageCall { app, visitor, .. }: PageCall,
    form: FormData,
) -> Result<Response, PageError> {
    let words = visitor.words();
    let keys = Keys::make(&app, &visitor.caller, words, &form, None).await?;
    let account = account_page(&app, &visitor).await?;
    Ok(page::show_with(keys.status(), &AccountPage { keys, ..account }))
}
