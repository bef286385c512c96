//! `/app/w/{workspace}/l/{code}/qr`: the QR code of a link, for its page and to save.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};

use crate::app::{App, AppError, QrFormat};
use crate::web::errors::PageError;
use crate::web::form::FormData;
use crate::web::visitor::PageCall;
use kurz_core::link::qr::{Look, QrError};

/// A picture that somebody opens by itself runs nothing and loads nothing.
const POLICY: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");

/// How a picture is to look, from a query.
pub(super) fn read_look(query: &FormData) -> Result<Look, QrError> {
    let size = query.word("size").map(str::parse).transpose().map_err(|_| QrError::Size)?;
    Look::read(size, query.word("dark"), query.word("light"))
}

/// `GET /app/w/{workspace}/l/{code}/qr`
pub(in crate::web) async fn qr(
    PageCall { app, visitor, query, path: (workspace, code) }: PageCall<(String, String)>,
) -> Result<Response, PageError> {
    let workspace = App::workspace_id(&workspace)?;
    let format = QrFormat::parse(query.word("format").unwrap_or("svg"))?;
    let look = read_look(&query).map_err(AppError::from)?;
    let picture = app.link_qr(&visitor.caller, &workspace, &code, format, &look).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(picture.format.media_type())),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    Ok((headers, picture.bytes).into_response())
}
