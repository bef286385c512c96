//! The caches: of links that redirects read, and of links that were asked for. How large, not how
//! long: links leave them when they change.
//!
//! Invariant: each has an upper bound; that of redirects is never too small to be of use.

use super::rule::bytes;
use super::setting::settings;

settings! {
    /// How much memory the caches may take.
    pub struct Cache {
        /// Maximum memory for cached links.
        "cache_bytes" => bytes: u64 = bytes(1 << 20..=1 << 40).or("64MiB"),
        /// Maximum memory for links that are reused: a repeated creation is answered without a
        /// transaction.
        "repeat_bytes" => repeat_bytes: u64 = bytes(0..=1 << 40).or("16MiB"),
    }
}
