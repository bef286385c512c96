//! `…/l/{code}/disable` and `…/enable`: for those who administer the server.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::App;
use crate::web::failure::Failure;
use crate::web::form::Form;
use crate::web::links::Place;
use crate::web::visitor::Member;
use crate::web::words::Words;
use kurz_core::link::Reason;

/// A reason, in the visitor's words.
pub(in crate::web) const fn reason(words: &'static Words, reason: Reason) -> &'static str {
    let abuse = &words.abuse;
    match reason {
        Reason::Abuse => abuse.reason_misuse,
        Reason::Malware => abuse.reason_malware,
        Reason::Phishing => abuse.reason_phishing,
        Reason::Legal => abuse.reason_legal,
        Reason::Other => abuse.reason_other,
        Reason::Account => abuse.reason_account,
        Reason::Blocked => abuse.reason_blocked,
    }
}

/// `POST /app/w/{workspace}/l/{code}/disable`
pub(in crate::web) async fn disable(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path((workspace, code)): Path<(String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let place = Place::enter(&app, &visitor, &workspace, "").await?;
    let (reason, note) = (form.text("reason"), form.word("note"));
    app.disable_link(&visitor.caller, &place.workspace, &code, reason, note).await?;
    Ok(Redirect::to(&place.link(&code)).into_response())
}

/// `POST /app/w/{workspace}/l/{code}/enable`
pub(in crate::web) async fn enable(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path((workspace, code)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let place = Place::enter(&app, &visitor, &workspace, "").await?;
    app.enable_link(&visitor.caller, &place.workspace, &code).await?;
    Ok(Redirect::to(&place.link(&code)).into_response())
}
