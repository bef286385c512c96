//! The JSON shape of a request of Linkforge.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::input::url_field;
use crate::api::time::Time;
use crate::app::LinkRequest;
use kurz_core::link::{Change, LinkFieldChanges, Strategy};
use kurz_core::time::Timestamp;

/// A link to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::compat) struct LinkforgeNewLink {
    /// Where it should lead: an http or https URL of at most 8,192 bytes. `original_url` is understood as well.
    #[serde(alias = "original_url", deserialize_with = "url")]
    #[schema(example = "https://example.com/page")]
    url: String,
    /// A code of your choice, instead of the deterministic one.
    #[schema(pattern = "^[A-Za-z0-9_-]{3,64}$", nullable)]
    custom_code: Option<String>,
    /// From when on it should answer 410.
    expires_at: Option<Time>,
    /// A name for people.
    #[schema(max_length = 200)]
    title: Option<String>,
    /// Words to find it by.
    #[schema(max_items = 20)]
    tags: Option<Vec<String>>,
}

url_field!(url, "url");

impl From<LinkforgeNewLink> for LinkRequest {
    fn from(body: LinkforgeNewLink) -> Self {
        let fields = LinkFieldChanges {
            title: Change::To(body.title),
            tags: Change::To(body.tags),
            expires_at: Change::To(body.expires_at.map(Timestamp::from)),
            ..LinkFieldChanges::default()
        };
        Self {
            length: None,
            original_url: body.url,
            custom_code: body.custom_code,
            strategy: Some(Strategy::Deterministic),
            fields,
            ..Self::default()
        }
    }
}
