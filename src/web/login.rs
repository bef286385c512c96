//! Register, log in, log out. Every login gives the browser a new secret.

use askama::Template;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use http::HeaderMap;
use http::header::{SET_COOKIE, USER_AGENT};

use crate::app::{App, AppError, Registration, Signup};
use crate::client_address::ClientAddress;
use crate::web::cookies;
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::page::{self, Layout, Note};
use crate::web::site::page_path;
use crate::web::visitor::{PublicCall, Visitor};

/// Where those go who came from nowhere in particular.
const INSIDE: &str = "/app";

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    page: Layout,
    is_new: bool,
    is_closed: bool,
    wants_invite: bool,
    next: String,
    /// The query that keeps `next` on the way to the other form.
    keep_next: String,
    email: String,
    name: String,
    invite: String,
    refusal: FormErrors,
}

fn login_page_of(app: &App, visitor: &Visitor, is_new: bool, form: &FormData) -> LoginPage {
    let signup = app.policy().signup;
    let next = page_path(form.text("next"));
    LoginPage {
        page: Layout::new(app, visitor),
        is_new,
        is_closed: signup == Signup::Closed,
        wants_invite: signup == Signup::Invite,
        keep_next: next.map(query_of).unwrap_or_default(),
        next: next.unwrap_or_default().to_owned(),
        email: form.text("email").to_owned(),
        name: form.text("name").to_owned(),
        invite: form.text("invite").to_owned(),
        refusal: FormErrors::default(),
    }
}

fn query_of(next: &str) -> String {
    let next: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
    format!("?next={next}")
}

fn show(call: &PublicCall, is_new: bool) -> Response {
    let PublicCall { app, visitor, query } = call;
    let note = query.word("deleted").map(|_| visitor.words().account.deleted);
    let mut login = login_page_of(app, visitor, is_new, query);
    login.page = login.page.noting(note.map(Note::plain));
    // Only a form that was sent fills fields; a link from elsewhere does not.
    (login.email, login.name) = (String::new(), String::new());
    page::show(&login)
}

/// `GET /login`
pub(super) async fn login_page(call: PublicCall) -> Response {
    show(&call, false)
}

/// `GET /register`
pub(super) async fn register_page(call: PublicCall) -> Response {
    show(&call, true)
}

/// `POST /login`
pub(super) async fn login(
    call: PublicCall,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    form: FormData,
) -> Result<Response, PageError> {
    let (email, password) = (form.text("email"), form.text("password"));
    let secret = call.app.log_in_browser(email, password, agent(&headers), client).await;
    finish(&call, false, &form, secret)
}

/// `POST /register`
pub(super) async fn register(
    call: PublicCall,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    form: FormData,
) -> Result<Response, PageError> {
    let registration = Registration {
        email: form.text("email").to_owned(),
        password: form.text("password").to_owned(),
        name: form.text("name").to_owned(),
        invite: form.word("invite").map(str::to_owned),
    };
    let secret = call.app.register_browser(&registration, agent(&headers), client).await;
    finish(&call, true, &form, secret)
}

fn finish(
    PublicCall { app, visitor, .. }: &PublicCall,
    is_new: bool,
    form: &FormData,
    secret: Result<String, AppError>,
) -> Result<Response, PageError> {
    match secret {
        Ok(secret) => {
            let next = page_path(form.text("next")).unwrap_or(INSIDE);
            let cookie = cookies::keep_session(app, &secret);
            Ok((AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to(next)).into_response())
        }
        Err(error) => {
            let refusal = FormErrors::read(error, visitor.words())?;
            let status = refusal.status;
            let login = login_page_of(app, visitor, is_new, form);
            Ok(page::show_with(status, &LoginPage { refusal, ..login }))
        }
    }
}

/// `POST /app/logout`: this browser alone.
pub(super) async fn logout(
    PublicCall { app, visitor, .. }: PublicCall,
) -> Result<Response, PageError> {
    if let Some(browser) = &visitor.browser {
        match app.end_session(&browser.caller, &browser.hash).await {
            Ok(()) | Err(AppError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let cookie = cookies::drop_session(&app);
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to("/")).into_response())
}

pub(super) fn agent(headers: &HeaderMap) -> &str {
    headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default()
}
