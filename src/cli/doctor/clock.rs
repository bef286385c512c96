//! The clock: expiry, months and quotas all hang on it. It is compared with what else there is: the
//! database's clock, or the last change of the file.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::Finding;
use crate::clock::Clock;
use crate::config::StoreUrl;
use crate::store::Store;
use kurz_core::time::Timestamp;

const CHECK: &str = "clock";

/// 2026-01-01T00:00:00Z: no clock that is right is before this program was written.
const WRITTEN: Timestamp = Timestamp::from_ms(1_767_225_600_000);

/// As much as a link may live too long or too short without anybody caring.
const TOLERANCE: Duration = Duration::from_secs(2);
/// From here on, links expire visibly at the wrong time.
const TOO_MUCH: Duration = Duration::from_mins(1);

pub(super) async fn check(url: &StoreUrl, store: Option<&Store>, clock: &Clock) -> Vec<Finding> {
    let now = clock.now();
    if now < WRITTEN {
        return vec![Finding::problem(
            CHECK,
            format!("this machine says that it is {now}: set it"),
        )];
    }
    match (url, store) {
        (StoreUrl::Sqlite(path), _) => vec![against_file(path, now)],
        (StoreUrl::Postgres(_), Some(store)) => vec![against_database(store, clock).await],
        (StoreUrl::Postgres(_), None) => Vec::new(),
    }
}

async fn against_database(store: &Store, clock: &Clock) -> Finding {
    let before = clock.now();
    let theirs = match store.now().await {
        Ok(theirs) => theirs.unwrap_or(before),
        Err(error) => return Finding::problem(CHECK, error),
    };
    // It was read at some moment in between: only what lies outside is a difference.
    let difference = gap(before, clock.now(), theirs);
    let words = format!("this machine and PostgreSQL differ by {} ms", difference.as_millis());
    if difference > TOO_MUCH {
        Finding::problem(CHECK, format!("{words}: synchronise both with NTP"))
    } else if difference > TOLERANCE {
        Finding::warning(CHECK, format!("{words}: synchronise both with NTP"))
    } else {
        Finding::ok(CHECK, words)
    }
}

/// How far `at` lies outside of the time from `first` to `last`.
fn gap(first: Timestamp, last: Timestamp, at: Timestamp) -> Duration {
    let outside = (first.as_ms() - at.as_ms()).max(at.as_ms() - last.as_ms()).max(0);
    Duration::from_millis(outside.unsigned_abs())
}

fn against_file(path: &Path, now: Timestamp) -> Finding {
    let changed = path.metadata().and_then(|file| file.modified()).ok();
    let changed = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let changed = changed.map(|since| Timestamp::from_ms(0).plus(since));
    match changed.filter(|changed| *changed > now.plus(TOLERANCE)) {
        Some(changed) => Finding::warning(
            CHECK,
            format!("the store was last changed at {changed}, and now it is {now}: set the clock"),
        ),
        None => Finding::ok(CHECK, format!("it is {now}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_outside_of_the_question_is_a_difference() {
        let at = Timestamp::from_ms;
        let table = [(100, 0), (150, 0), (200, 0), (99, 1), (90, 10), (250, 50)];
        for (theirs, ms) in table {
            assert_eq!(gap(at(100), at(200), at(theirs)), Duration::from_millis(ms), "{theirs}");
        }
    }

    #[tokio::test]
    async fn a_clock_that_fell_back_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kurz.db");
        std::fs::write(&path, "").unwrap();
        let url = StoreUrl::Sqlite(path);
        for (now, level) in [
            (Timestamp::from_ms(0), super::super::Level::Problem),
            (WRITTEN, super::super::Level::Warning),
            (Timestamp::from_ms(i64::MAX / 2), super::super::Level::Ok),
        ] {
            let found = check(&url, None, &Clock::manual(now)).await;
            assert_eq!(found[0].level, level, "{found:?}");
        }
    }
}
