//! The sizes of the caches: of links for redirects, and of links that a repeated creation reuses. There
//! is no time to live: entries are invalidated when their link changes.
//!
//! Invariant: each cache has an upper bound; that of redirects is never too small to be of use.

use super::setting::settings;
use super::value_parser::bytes;

settings! {
    /// Maximum memory of the caches.
    pub(crate) struct Cache {
        /// Maximum memory for cached links.
        "cache_bytes" => bytes: u64 = bytes(1 << 20..=1 << 40).or("64MiB"),
        /// Maximum memory for links that are reused: a repeated creation is answered without a
        /// transaction.
        "repeat_bytes" => repeat_bytes: u64 = bytes(0..=1 << 40).or("16MiB"),
    }
}
