//! `/s/{token}`: analytics that were shared, without an account. The page knows nothing of who may be signed in, and
//! shows nothing that the share does not name.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use http::header::SET_COOKIE;
use http::{HeaderMap, StatusCode};

use crate::app::{App, AppError, OpenShare, ShareKey};
use crate::client_address::ClientAddress;
use crate::web::analytics::dashboard::PageHead;
use crate::web::analytics::subject::{Asker, PageSubject};
use crate::web::analytics::{AnalyticsCall, hidden};
use crate::web::cookies;
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::i18n::fill;
use crate::web::page::{self, Layout};
use crate::web::visitor::{PublicCall, Visitor};

#[derive(Template)]
#[template(path = "analytics_locked.html")]
struct LockedPage {
    page: Layout,
    path: String,
    refusal: FormErrors,
}

/// `GET /s/{token}`
pub(in crate::web) async fn show(
    Path(token): Path<String>,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    call: PublicCall,
) -> Result<Response, PageError> {
    answer(call, &token, "", client, &headers).await
}

/// `GET /s/{token}/{part}`
pub(in crate::web) async fn part(
    Path((token, part)): Path<(String, String)>,
    ClientAddress(client): ClientAddress,
    headers: HeaderMap,
    call: PublicCall,
) -> Result<Response, PageError> {
    answer(call, &token, &part, client, &headers).await
}

async fn answer(
    PublicCall { app, visitor, query }: PublicCall,
    token: &str,
    part: &str,
    client: std::net::IpAddr,
    headers: &HeaderMap,
) -> Result<Response, PageError> {
    let key = cookies::share_pass(headers).map_or(ShareKey::Nothing, ShareKey::Pass);
    let open = match app.open_share(token, key, client).await {
        Err(AppError::WrongPassword) => {
            return Ok(locked(&visitor, token, FormErrors::default(), StatusCode::UNAUTHORIZED));
        }
        open => open?,
    };
    call(app, visitor, query, (token, open)).await?.answer(part).await
}

async fn call(
    app: Arc<App>,
    visitor: Visitor,
    query: FormData,
    (token, open): (&str, OpenShare),
) -> Result<AnalyticsCall, PageError> {
    let hidden = hidden(&app, open.workspace()).await?;
    let head = PageHead {
        title: fill(visitor.words().analytics.title_of, open.name()),
        crumb: None,
        place: None,
        base: format!("/s/{token}"),
        is_shared: true,
        may_index: open.is_indexed(),
        range: open.range().map(str::to_owned),
        settings: None,
    };
    let subject = PageSubject { asker: Asker::Share(Box::new(open)), hidden };
    Ok(AnalyticsCall { app, visitor, query, subject, head })
}

fn locked(visitor: &Visitor, token: &str, refusal: FormErrors, status: StatusCode) -> Response {
    let path = format!("/s/{token}");
    let layout = Layout { path: path.clone(), ..Layout::bare(visitor.words()) };
    page::show_with(status, &LockedPage { page: layout, path, refusal })
}

/// `POST /s/{token}`: show the password once, and keep what stands for it in this browser.
pub(in crate::web) async fn unlock(
    State(app): State<Arc<App>>,
    Path(token): Path<String>,
    ClientAddress(client): ClientAddress,
    visitor: Visitor,
    form: FormData,
) -> Result<Response, PageError> {
    let key = ShareKey::Password(form.text("password"));
    match app.open_share(&token, key, client).await {
        Ok(open) => {
            let next = Redirect::to(&format!("/s/{token}"));
            let Some(pass) = &open.pass else { return Ok(next.into_response()) };
            let cookie = cookies::keep_share_pass(&app, &token, pass);
            Ok((AppendHeaders([(SET_COOKIE, cookie)]), next).into_response())
        }
        Err(AppError::WrongPassword) => {
            let refusal = FormErrors::of("password", visitor.words().trouble.wrong_password);
            Ok(locked(&visitor, &token, refusal, StatusCode::UNAUTHORIZED))
        }
        Err(error) => Err(error.into()),
    }
}
