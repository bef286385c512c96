//! `…/l/{code}/disable` and `…/enable`, for administrators.

use axum::response::{IntoResponse, Redirect, Response};

use crate::web::errors::PageError;
use crate::web::form::FormData;
use crate::web::i18n::Words;
use crate::web::links::WorkspaceView;
use crate::web::visitor::PageCall;
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
    PageCall { app, visitor, path: (workspace, code), .. }: PageCall<(String, String)>,
    form: FormData,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "").await?;
    let (reason, note) = (form.text("reason"), form.word("note"));
    app.disable_link(&visitor.caller, &place.workspace, &code, reason, note).await?;
    Ok(Redirect::to(&place.link(&code)).into_response())
}

/// `POST /app/w/{workspace}/l/{code}/enable`
pub(in crate::web) async fn enable(
    PageCall { app, visitor, path: (workspace, code), .. }: PageCall<(String, String)>,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "").await?;
    app.enable_link(&visitor.caller, &place.workspace, &code).await?;
    Ok(Redirect::to(&place.link(&code)).into_response())
}
