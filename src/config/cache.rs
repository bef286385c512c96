//! The sizes of the caches: of links for redirects, and of links that a repeated creation reuses. There
//! is no time to live: entries are invalidated when their link changes.
//!
//! Invariant: each cache has an upper bound; that of redirects is never too small to be of use.

use super::memory;
use super::setting::settings;
use super::value_parser::bytes;

/// The share of the memory that cached links may use by default, and its bounds. At 64 MiB, about
/// 90,000 links fit; more than 1 GiB is for the operator to decide.
const SHARE: u64 = 8;
const DEFAULT_MIN: u64 = 64 << 20;
const DEFAULT_MAX: u64 = 1 << 30;

settings! {
    /// Maximum memory of the caches.
    pub(crate) struct Cache {
        /// Maximum memory for cached links.
        "cache_bytes" => bytes: Option<u64> = bytes(1 << 20..=1 << 40).or_none(
            "an eighth of the memory of the machine or its container, at least 64MiB and at most 1GiB",
        ),
        /// Maximum memory for links that are reused: a repeated creation is answered without a
        /// transaction.
        "repeat_bytes" => repeat_bytes: u64 = bytes(0..=1 << 40).or("16MiB"),
    }
}

impl Cache {
    /// Maximum memory for cached links: what is set, or what this machine's memory allows.
    pub(crate) fn link_bytes(&self) -> u64 {
        self.bytes.unwrap_or_else(|| default_bytes(memory::available()))
    }
}

fn default_bytes(memory: Option<u64>) -> u64 {
    let share = memory.map_or(DEFAULT_MIN, |memory| memory / SHARE);
    // Whole MiB, so that it is short to print.
    (share >> 20 << 20).clamp(DEFAULT_MIN, DEFAULT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_an_eighth_of_the_memory_within_its_bounds() {
        for (memory, expected) in [
            (None, 64 << 20),
            (Some(0), 64 << 20),
            (Some(256 << 20), 64 << 20),
            (Some(1 << 30), 128 << 20),
            (Some((4 << 30) + 12_345), 512 << 20),
            (Some(64 << 30), 1 << 30),
        ] {
            assert_eq!(default_bytes(memory), expected, "{memory:?}");
        }
        let set = Cache { bytes: Some(7), repeat_bytes: 0 };
        assert_eq!(set.link_bytes(), 7);
    }
}
