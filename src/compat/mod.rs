//! Compatibility APIs, served beside the native one: thin translators of other wire shapes. They read
//! requests as the native API does; what is done is in `app`.

mod adma;
mod cloudshortener;
mod linkforge;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// All endpoints, with their descriptions.
pub(crate) fn endpoints() -> OpenApiRouter<Arc<App>> {
    adma::endpoints().merge(cloudshortener::endpoints()).merge(linkforge::endpoints())
}
