//! The caches: of links that redirects read, and of links that were asked for. How large, not how
//! long: links leave them when they change.
//!
//! Invariant: each has an upper bound; that of redirects is never too small to be of use.

use super::rule::bytes;
use super::setting::settings;

settings! {
    /// How much memory the caches may take.
    pub struct Cache {
        /// How much memory the cached links may take.
        "cache_bytes" => bytes: u64 = bytes(1 << 20..=1 << 40).or("64MiB"),
        /// How much memory links may take that were asked for before, so that asking again is
        /// answered without a transaction.
        "repeat_bytes" => repeat_bytes: u64 = bytes(0..=1 << 40).or("16MiB"),
    }
}
