//! The JSON shapes of Cloudshortener.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::input::url_field;

/// A link to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::compat) struct ShortenBody {
    #[serde(deserialize_with = "target_url")]
    pub(super) target_url: String,
}

url_field!(target_url, "targetUrl");

/// A link that was created.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::compat) struct ShortenAnswer {
    /// A sentence for people.
    pub(super) message: String,
    pub(super) target_url: String,
    pub(super) short_url: String,
    pub(super) shortcode: String,
    /// Links that the user may make in a UTC calendar month; null: any number.
    pub(super) user_quota: Option<i64>,
    /// How many of them are left; null: any number.
    pub(super) remaining_quota: Option<i64>,
}
