//! The style sheet, the script and the icon, embedded, under names with the hash of their content, so that
//! browsers cache them for good.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue, header};
use sha2::{Digest, Sha256};

use crate::web::page;

pub(super) const FOLDER: &str = "/assets/";

/// One module, made of files that each do one thing.
const SCRIPT: &str = concat!(
    include_str!("../../assets/scripts/copy.js"),
    include_str!("../../assets/scripts/countdown.js"),
    include_str!("../../assets/scripts/own.js"),
    include_str!("../../assets/scripts/claim.js"),
    include_str!("../../assets/scripts/list.js"),
    include_str!("../../assets/scripts/bulk.js"),
    include_str!("../../assets/scripts/analytics.js"),
);

struct Asset {
    path: String,
    kind: &'static str,
    bytes: &'static str,
}

impl Asset {
    fn new(name: &str, end: &str, kind: &'static str, bytes: &'static str) -> Self {
        let hash = Sha256::digest(bytes.as_bytes());
        let hash = URL_SAFE_NO_PAD.encode(hash.get(..9).unwrap_or_default());
        Self { path: format!("{FOLDER}{name}-{hash}.{end}"), kind, bytes }
    }
}

static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let style = include_str!("../../assets/style.css");
    Asset::new("style", "css", "text/css; charset=utf-8", style)
});
static MODULE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("kurz", "js", "text/javascript; charset=utf-8", SCRIPT));
static ICON: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("icon", "svg", "image/svg+xml", include_str!("../../assets/icon.svg"))
});

/// The address of the style sheet.
pub(super) fn style() -> &'static str {
    &STYLE.path
}

pub(super) fn script() -> &'static str {
    &MODULE.path
}

pub(super) fn icon() -> &'static str {
    &ICON.path
}

/// `/assets/{name}`
pub(super) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let all = [&*STYLE, &*MODULE, &*ICON];
    let found = all.into_iter().find(|asset| asset.path.strip_prefix(FOLDER) == Some(&name));
    let Some(asset) = found else { return page::nothing(&headers) };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    ];
    (headers, asset.bytes).into_response()
}
