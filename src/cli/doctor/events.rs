//! Events: how much room they take, and what a shorter time would free.

use super::Finding;
use crate::clock::Clock;
use crate::config::size;
use crate::store::{EventSizes, Store};
use kurz_core::analytics::day_of;

const CHECK: &str = "events";
/// The shorter time that is spoken of.
const SHORTER: i64 = 30;

pub(super) async fn check(store: Option<&Store>, clock: &Clock) -> Option<Finding> {
    match store?.event_sizes().await {
        Ok(sizes) if sizes.events + sizes.logged == 0 => None,
        Ok(sizes) => Some(Finding::ok(CHECK, describe(&sizes, day_of(clock.now())))),
        Err(error) => Some(Finding::problem(CHECK, error)),
    }
}

fn describe(sizes: &EventSizes, today: i64) -> String {
    let EventSizes { blocks, events, block_bytes, logged, sum_bytes, first_day } = *sizes;
    let each = block_bytes.checked_div(events).unwrap_or_default();
    let mut text = format!(
        "{events} events in {blocks} blocks take {} ({each} bytes each), {logged} wait in the log, sums of \
         days take {}",
        print(block_bytes),
        print(sum_bytes)
    );
    let days = first_day.map_or(0, |first| today - first + 1);
    if days > SHORTER {
        text.push_str(&shorter(block_bytes, days));
    }
    text
}

/// What is free when only the last days are kept.
fn shorter(bytes: i64, days: i64) -> String {
    let freed = bytes / days * (days - SHORTER);
    format!("; KURZ_EVENTS_KEEP={SHORTER}d would free about {}", print(freed))
}

/// In whole units, so that it reads well.
fn print(bytes: i64) -> String {
    let bytes = u64::try_from(bytes).unwrap_or_default();
    let unit = match bytes {
        0..0x10_0000 => 10,
        0x10_0000..0x4000_0000 => 20,
        _ => 30,
    };
    size::print(bytes.div_ceil(1 << unit) << unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_events_is_said_with_what_a_shorter_time_would_free() {
        let sizes = EventSizes {
            blocks: 20,
            events: 1_000_000,
            block_bytes: 15_000_000,
            logged: 7,
            sum_bytes: 900,
            first_day: Some(910),
        };
        let text = describe(&sizes, 999);
        let start = "1000000 events in 20 blocks take 15MiB (15 bytes each), 7 wait in the log";
        assert!(text.starts_with(start), "{text}");
        assert!(text.ends_with("KURZ_EVENTS_KEEP=30d would free about 10MiB"), "{text}");
        let young = describe(&EventSizes { first_day: Some(990), ..sizes }, 999);
        assert!(young.ends_with("sums of days take 1KiB"), "{young}");
        let none = EventSizes { events: 0, blocks: 0, block_bytes: 0, first_day: None, ..sizes };
        assert!(describe(&none, 999).starts_with("0 events in 0 blocks take 0"));
    }
}
