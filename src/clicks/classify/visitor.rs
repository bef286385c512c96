//! Who clicked: a person or not, which visitor of the workspace, and whether from a page of the same host.

use kurz_core::analytics::Class;
use kurz_core::clicks::{Click, ClickFlags, QueuedClicks};
use xxhash_rust::xxh64::xxh64;

/// A visitor is known by so many bits.
const VISITOR_BITS: u32 = 40;

/// Whether a person clicked is decided by the worker: the counts of a link say the same.
pub(super) fn class_of(flags: ClickFlags, bot: Option<Class>) -> Class {
    if flags.has(ClickFlags::EXCLUDED) {
        Class::Excluded
    } else if flags.has(ClickFlags::PREFETCH) {
        Class::Prefetch
    } else if flags.has(ClickFlags::OTHER) {
        bot.unwrap_or(Class::Bot)
    } else {
        Class::Person
    }
}

/// A visitor of two workspaces has two numbers, which nobody can tell to be the same person's without
/// their keys.
pub(super) fn visitor_of(person: u64, key: u64) -> u64 {
    if person == 0 {
        return 0;
    }
    (xxh64(&person.to_le_bytes(), key) >> (u64::BITS - VISITOR_BITS)).max(1)
}

/// Whether the referrer is the host that was asked for.
pub(super) fn is_same_host(queued: &QueuedClicks, click: &Click) -> bool {
    let (referrer, host) = (queued.texts.get(click.referrer), queued.texts.get(click.host));
    !host.is_empty() && without_www(host) == referrer
}

pub(super) fn without_www(host: &[u8]) -> &[u8] {
    host.strip_prefix(b"www.").unwrap_or(host)
}
