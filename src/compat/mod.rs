//! Older wire shapes, served beside the native API: thin translators, camelCase, over the same code.
//! They share how the native API reads a request; what is done is `app`'s alone.

mod adma;
mod cloudshortener;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// All endpoints of the compat, with their descriptions.
pub fn endpoints() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(adma::register))
        .routes(routes!(adma::login))
        .routes(routes!(adma::create_public))
        .routes(routes!(adma::create, adma::list))
        .routes(routes!(adma::delete))
        .routes(routes!(adma::sync))
        .routes(routes!(adma::stats))
        .routes(routes!(cloudshortener::shorten))
}
