//! The cache of links that redirects read: how large, not how long. Links leave it when they change.
//!
//! Invariant: the cache has an upper bound, and is never too small to be of use.

use super::rule::bytes;
use super::setting::settings;

settings! {
    /// How much memory the cache may take.
    pub struct Cache {
        /// How much memory the cached links may take.
        "cache_bytes" => bytes: u64 = bytes(1 << 20..=1 << 40).or("64MiB"),
    }
}
