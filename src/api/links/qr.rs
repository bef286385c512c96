//! `GET …/links/{code}/qr`: the QR code of a link's short address.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::call::{Call, LinkPath};
use crate::api::input::Params;
use crate::app::{AppError, QrFormat};
use crate::problem::{Problem, Problems};
use kurz_core::link::qr::Look;

/// A picture that somebody opens by itself runs nothing and loads nothing.
const POLICY: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");

/// How the picture looks.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct QrParams {
    /// `svg` (if you say nothing) or `png`.
    #[param(pattern = "^(svg|png)$")]
    format: Option<String>,
    /// About how many pixels its side has: 64 to 1,024, 256 if you say nothing. A PNG has as many
    /// as give every module the same number.
    #[param(minimum = 64, maximum = 1024)]
    size: Option<u32>,
    /// The colour of the code: six hexadecimal digits.
    #[param(pattern = "^#?[0-9a-fA-F]{6}$")]
    dark: Option<String>,
    /// The colour around it: six hexadecimal digits.
    #[param(pattern = "^#?[0-9a-fA-F]{6}$")]
    light: Option<String>,
}

/// The QR code of a link's short address.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/links/{code}/qr", tag = "links",
    operation_id = "link_qr",
    params(LinkPath, QrParams),
    responses(
        (status = 200, description = "The picture.",
            content((String = "image/svg+xml"), (Vec<u8> = "image/png"))),
        Problems,
    ))]
pub(crate) async fn qr(
    Call { app, caller, path }: Call<LinkPath>,
    Params(params): Params<QrParams>,
) -> Result<Response, Problem> {
    let format = QrFormat::parse(params.format.as_deref().unwrap_or("svg"))?;
    let look = Look::read(params.size, params.dark.as_deref(), params.light.as_deref());
    let look = look.map_err(AppError::from)?;
    let picture = app.link_qr(&caller, &path.workspace()?, &path.code, format, &look).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(picture.format.media_type())),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    Ok((headers, picture.bytes).into_response())
}
