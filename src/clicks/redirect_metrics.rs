//! Metrics of redirects: how many, and how long they took. They are summed from the queued clicks, away
//! from the redirects themselves, and written as Prometheus text when they are asked for.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use kurz_core::clicks::{Click, ClickAnswer, ClickFlags};

/// Upper bounds of the histogram's buckets, in nanoseconds.
const BOUNDS: [u32; 16] = [
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    50_000_000,
    250_000_000,
    1_000_000_000,
];

/// Totals since the process started.
#[derive(Debug, Default)]
pub struct RedirectMetrics {
    people: AtomicU64,
    others: AtomicU64,
    nanos: AtomicU64,
    /// Redirects for each bound, and those above the last.
    buckets: [AtomicU64; BOUNDS.len() + 1],
}

impl RedirectMetrics {
    pub(super) fn add(&self, click: &Click) {
        self.add_all(std::slice::from_ref(click));
    }

    /// Count those of `clicks` that were redirected.
    pub(super) fn add_all(&self, clicks: &[Click]) {
        let (mut all, mut people, mut nanos) = (0, 0, 0);
        let mut buckets = [0; BOUNDS.len() + 1];
        for click in clicks.iter().filter(|click| click.answer == ClickAnswer::Redirect) {
            all += 1;
            people += u64::from(!click.flags.has(ClickFlags::OTHER));
            nanos += u64::from(click.nanos);
            let at = BOUNDS.partition_point(|bound| *bound < click.nanos);
            if let Some(count) = buckets.get_mut(at) {
                *count += 1;
            }
        }
        self.people.fetch_add(people, Relaxed);
        self.others.fetch_add(all - people, Relaxed);
        self.nanos.fetch_add(nanos, Relaxed);
        for (bucket, count) in self.buckets.iter().zip(buckets) {
            if count > 0 {
                bucket.fetch_add(count, Relaxed);
            }
        }
    }

    /// Append the metrics in Prometheus' text format.
    pub fn write(&self, text: &mut String) {
        let (people, others) = (self.people.load(Relaxed), self.others.load(Relaxed));
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "# TYPE kurz_redirects_total counter\n\
             kurz_redirects_total{{visitor=\"person\"}} {people}\n\
             kurz_redirects_total{{visitor=\"other\"}} {others}\n\
             \n# TYPE kurz_redirect_duration_seconds histogram\n"
        );
        let mut sum = 0;
        for (at, bucket) in self.buckets.iter().enumerate() {
            sum += bucket.load(Relaxed);
            let bound = BOUNDS.get(at).map_or("+Inf".to_owned(), |nanos| seconds((*nanos).into()));
            let _ = writeln!(text, "kurz_redirect_duration_seconds_bucket{{le=\"{bound}\"}} {sum}");
        }
        let nanos = seconds(self.nanos.load(Relaxed));
        let _ = write!(
            text,
            "kurz_redirect_duration_seconds_sum {nanos}\n\
             kurz_redirect_duration_seconds_count {sum}\n\n"
        );
    }
}

fn seconds(nanos: u64) -> String {
    let text = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::link::LinkId;
    use kurz_core::time::Timestamp;

    #[test]
    fn clicks_are_counted_by_visitor_and_duration() {
        let metrics = RedirectMetrics::default();
        let click = |nanos, flags| {
            let at = Timestamp::from_ms(0);
            Click { flags, ..Click::new(LinkId(1), at, nanos) }
        };
        metrics.add_all(&[
            click(1_000, ClickFlags::NONE),
            click(1_001, ClickFlags::RESERVED),
            Click { answer: ClickAnswer::OverLimit, ..click(5, ClickFlags::NONE) },
            click(u32::MAX, ClickFlags::OTHER),
        ]);
        metrics.add(&click(7, ClickFlags::OTHER.with(ClickFlags::PREFETCH)));
        let mut text = String::new();
        metrics.write(&mut text);
        for line in [
            "kurz_redirects_total{visitor=\"person\"} 2",
            "kurz_redirects_total{visitor=\"other\"} 2",
            "kurz_redirect_duration_seconds_bucket{le=\"0.000001\"} 2",
            "kurz_redirect_duration_seconds_bucket{le=\"0.0000025\"} 3",
            "kurz_redirect_duration_seconds_bucket{le=\"1\"} 3",
            "kurz_redirect_duration_seconds_bucket{le=\"+Inf\"} 4",
            "kurz_redirect_duration_seconds_sum 4.294969303",
            "kurz_redirect_duration_seconds_count 4",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in {text}");
        }
    }
}
