//! `/app/w/{workspace}/l/{code}/qr`: the QR code of a link, for its page and to save.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, Uri, header};

use crate::app::{App, AppError, Format};
use crate::web::failure::Failure;
use crate::web::form::Form;
use crate::web::visitor::Member;
use kurz_core::link::qr::{Look, QrError};

/// A picture that somebody opens by itself runs nothing and loads nothing.
const POLICY: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");

/// How a picture is to look, from a query.
pub(super) fn read_look(query: &Form) -> Result<Look, QrError> {
    let size = query.word("size").map(str::parse).transpose().map_err(|_| QrError::Size)?;
    Look::read(size, query.word("dark"), query.word("light"))
}

/// `GET /app/w/{workspace}/l/{code}/qr`
pub(in crate::web) async fn picture(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    Path((workspace, code)): Path<(String, String)>,
    uri: Uri,
) -> Result<Response, Failure> {
    let query = Form::parse(uri.query().unwrap_or_default().as_bytes());
    let workspace = App::workspace_id(&workspace)?;
    let format = Format::parse(query.word("format").unwrap_or("svg"))?;
    let look = read_look(&query).map_err(AppError::from)?;
    let picture = app.link_picture(&visitor.caller, &workspace, &code, format, &look).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(picture.format.media_type())),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    Ok((headers, picture.bytes).into_response())
}
