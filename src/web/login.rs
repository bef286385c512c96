//! Register, log in, log out. Every sign-in gives the browser a new secret.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use http::header::{SET_COOKIE, USER_AGENT};
use http::{HeaderMap, Uri};

use crate::app::{App, AppError, Registration, Signup};
use crate::client_address::ClientAddress;
use crate::web::cookies;
use crate::web::failure::{Failure, Refusal};
use crate::web::form::Form;
use crate::web::page::{self, Note, Page};
use crate::web::site::own_path;
use crate::web::visitor::Visitor;

/// Where those go who came from nowhere in particular.
const INSIDE: &str = "/app";

#[derive(Template)]
#[template(path = "sign.html")]
struct SignPage {
    page: Page,
    is_new: bool,
    is_closed: bool,
    wants_invite: bool,
    next: String,
    email: String,
    name: String,
    invite: String,
    refusal: Refusal,
}

fn sign_page(app: &App, visitor: &Visitor, is_new: bool, form: &Form) -> SignPage {
    let signup = app.policy().signup;
    SignPage {
        page: Page::new(app, visitor),
        is_new,
        is_closed: signup == Signup::Closed,
        wants_invite: signup == Signup::Invite,
        next: own_path(form.text("next")).unwrap_or_default().to_owned(),
        email: form.text("email").to_owned(),
        name: form.text("name").to_owned(),
        invite: form.text("invite").to_owned(),
        refusal: Refusal::default(),
    }
}

fn show(app: &App, visitor: &Visitor, is_new: bool, uri: &Uri) -> Response {
    let query = Form::parse(uri.query().unwrap_or_default().as_bytes());
    let note = query.word("deleted").map(|_| visitor.words().account.deleted);
    let mut sign = sign_page(app, visitor, is_new, &query);
    sign.page = sign.page.noting(note.map(Note::plain));
    // Only a form that was sent fills fields; a link from elsewhere does not.
    (sign.email, sign.name) = (String::new(), String::new());
    page::show(&sign)
}

/// `GET /login`
pub(super) async fn login_page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    uri: Uri,
) -> Response {
    show(&app, &visitor, false, &uri)
}

/// `GET /register`
pub(super) async fn register_page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    uri: Uri,
) -> Response {
    show(&app, &visitor, true, &uri)
}

/// `POST /login`
pub(super) async fn login(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, Failure> {
    let (email, password) = (form.text("email"), form.text("password"));
    let signed = app.sign_in(email, password, agent(&headers), client).await;
    finish(&app, &visitor, false, &form, signed)
}

/// `POST /register`
pub(super) async fn register(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, Failure> {
    let registration = Registration {
        email: form.text("email").to_owned(),
        password: form.text("password").to_owned(),
        name: form.text("name").to_owned(),
        invite: form.word("invite").map(str::to_owned),
    };
    let signed = app.sign_up(&registration, agent(&headers), client).await;
    finish(&app, &visitor, true, &form, signed)
}

fn finish(
    app: &App,
    visitor: &Visitor,
    is_new: bool,
    form: &Form,
    signed: Result<String, AppError>,
) -> Result<Response, Failure> {
    match signed {
        Ok(secret) => {
            let next = own_path(form.text("next")).unwrap_or(INSIDE);
            let cookie = cookies::keep_session(app, &secret);
            Ok((AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to(next)).into_response())
        }
        Err(error) => {
            let refusal = Refusal::read(error, visitor.words())?;
            let status = refusal.status;
            let sign = sign_page(app, visitor, is_new, form);
            Ok(page::show_with(status, &SignPage { refusal, ..sign }))
        }
    }
}

/// `POST /app/logout`: this browser alone.
pub(super) async fn logout(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, Failure> {
    if let Some(browser) = &visitor.browser {
        match app.end_session(&browser.caller, &browser.hash).await {
            Ok(()) | Err(AppError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let cookie = cookies::drop_session(&app);
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to("/")).into_response())
}

/// What a browser calls itself.
pub(super) fn agent(headers: &HeaderMap) -> &str {
    headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default()
}
