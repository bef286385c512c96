//! The files by which phones know that an app opens a host's links: `apple-app-site-association` and
//! `assetlinks.json`, made from the plans of the links of the host's workspace. Other hosts have none.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, header};

use crate::app::{App, AppError};
use crate::web::HostOfRequest;
use crate::web::errors::PageError;
use crate::web::page;

pub(super) const APPLE: &str = "/.well-known/apple-app-site-association";
pub(super) const ANDROID: &str = "/.well-known/assetlinks.json";

pub(super) async fn apple(
    State(app): State<Arc<App>>,
    Extension(host): Extension<HostOfRequest>,
    headers: HeaderMap,
) -> Response {
    shown(app.apple_app_file(&host.0).await, &headers)
}

pub(super) async fn android(
    State(app): State<Arc<App>>,
    Extension(host): Extension<HostOfRequest>,
    headers: HeaderMap,
) -> Response {
    shown(app.android_app_file(&host.0).await, &headers)
}

fn shown(file: Result<Option<String>, AppError>, headers: &HeaderMap) -> Response {
    match file {
        Ok(Some(file)) => ([(header::CONTENT_TYPE, "application/json")], file).into_response(),
        Ok(None) => page::nothing(headers),
        Err(error) => PageError::from(error).into_response(),
    }
}
