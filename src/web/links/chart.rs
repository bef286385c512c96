//! The chart of a link's clicks: an SVG made here, with the number of each bar on hover, and the
//! same numbers for a table.

use crate::app::{Bucket, Granularity};
use crate::web::page::number;

const WIDTH: i64 = 720;
const HEIGHT: i64 = 220;
const LEFT: i64 = 48;
const TOP: i64 = 10;
const BOTTOM: i64 = 24;
const LABELS: usize = 6;
/// Coordinates are whole tenths of a unit inside, so that bars do not all round alike.
const TENTHS: i64 = 10;

/// A chart, ready to be written down.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) by: &'static str,
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) left: i64,
    pub(super) top: i64,
    /// How tall the tallest bar can be.
    pub(super) tall: i64,
    /// Lines of the scale: where, and what they stand for.
    pub(super) lines: Vec<(i64, String)>,
    pub(super) bars: Vec<Bar>,
    /// Words below: where, and what.
    pub(super) labels: Vec<(String, String)>,
    pub(super) rows: Vec<(String, String, String)>,
}

#[derive(Debug)]
pub(super) struct Bar {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) width: String,
    pub(super) height: String,
    /// From this bar to the next.
    pub(super) step: String,
    pub(super) title: String,
}

impl Chart {
    pub(super) fn draw(span: Granularity, buckets: &[Bucket], clicks: &str) -> Self {
        let highest = buckets.iter().map(|bucket| bucket.clicks).max().unwrap_or(0);
        let ceiling = ceiling(highest);
        let tall = HEIGHT - TOP - BOTTOM;
        let count = i64::try_from(buckets.len()).unwrap_or(1).max(1);
        let step = (WIDTH - LEFT) * TENTHS / count;
        let place = |at: usize| LEFT * TENTHS + i64::try_from(at).unwrap_or(0) * step;
        let bar = |(at, bucket): (usize, &Bucket)| {
            let height = scaled(bucket.clicks, tall * TENTHS, ceiling);
            Bar {
                x: tenths(place(at)),
                y: tenths((TOP + tall) * TENTHS - height),
                width: tenths(step * 8 / 10),
                height: tenths(height),
                step: tenths(step),
                title: format!("{}: {} {clicks}", period(span, bucket), number(bucket.clicks)),
            }
        };
        let every = buckets.len().div_ceil(LABELS).max(1);
        let labels = buckets.iter().enumerate().step_by(every);
        let line = |part: i64| {
            let y = TOP + tall - tall * part / 2;
            (y, number(ceiling / 2 * part))
        };
        Self {
            by: span.as_str(),
            width: WIDTH,
            height: HEIGHT,
            left: LEFT,
            top: TOP,
            tall,
            lines: (0..=2).map(line).collect(),
            bars: buckets.iter().enumerate().map(bar).collect(),
            labels: labels
                .map(|(at, bucket)| (tenths(place(at)), short_period(span, bucket)))
                .collect(),
            rows: buckets
                .iter()
                .rev()
                .map(|one| (period(span, one), number(one.clicks), number(one.others)))
                .collect(),
        }
        .or_empty(highest == 0 && buckets.iter().all(|bucket| bucket.others == 0))
    }

    /// A chart of nothing has no bars.
    fn or_empty(mut self, is_empty: bool) -> Self {
        if is_empty {
            self.bars.clear();
        }
        self
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bars.is_empty()
    }
}

/// The next even number that people like: 2, 4, 10, 20, 40, 100 …
fn ceiling(highest: i64) -> i64 {
    let mut power = 1_i64;
    loop {
        for step in [2, 4, 10] {
            let round = power.saturating_mul(step);
            if round >= highest {
                return round;
            }
        }
        power = power.saturating_mul(10);
    }
}

fn scaled(value: i64, most: i64, ceiling: i64) -> i64 {
    let scaled = i128::from(value) * i128::from(most) / i128::from(ceiling.max(1));
    i64::try_from(scaled).unwrap_or(most)
}

fn tenths(value: i64) -> String {
    format!("{}.{}", value.div_euclid(TENTHS), value.rem_euclid(TENTHS))
}

/// The period of a bucket, for people.
fn period(span: Granularity, bucket: &Bucket) -> String {
    let text = bucket.start.to_rfc3339();
    let end = match span {
        Granularity::Hour => 16,
        Granularity::Day => 10,
        Granularity::Month => 7,
    };
    text.get(..end).unwrap_or_default().replace('T', " ")
}

/// The same where there is little room.
fn short_period(span: Granularity, bucket: &Bucket) -> String {
    let text = bucket.start.to_rfc3339();
    let range = match span {
        Granularity::Hour => 11..16,
        Granularity::Day => 5..10,
        Granularity::Month => 0..7,
    };
    text.get(range).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::time::Timestamp;

    fn bucket(hour: i64, clicks: i64) -> Bucket {
        Bucket {
            start: Timestamp::from_ms(1_773_576_000_000 + hour * 3_600_000),
            clicks,
            others: 1,
        }
    }

    #[test]
    fn the_tallest_bar_fits_and_says_how_many() {
        let buckets = [bucket(0, 0), bucket(1, 7), bucket(2, 10)];
        let chart = Chart::draw(Granularity::Hour, &buckets, "clicks");
        assert_eq!(
            chart.lines.iter().map(|line| line.1.as_str()).collect::<Vec<_>>(),
            ["0", "5", "10"]
        );
        let heights: Vec<&str> = chart.bars.iter().map(|bar| bar.height.as_str()).collect();
        assert_eq!(heights, ["0.0", "130.2", "186.0"]);
        assert_eq!(chart.bars[1].title, "2026-03-15 13:00: 7 clicks");
        assert_eq!(chart.rows[0], ("2026-03-15 14:00".to_owned(), "10".to_owned(), "1".to_owned()));
        assert_eq!(chart.labels.len(), 3);
    }

    #[test]
    fn nothing_and_very_much_are_drawn_as_well() {
        assert!(Chart::draw(Granularity::Day, &[], "clicks").is_empty());
        let most = Bucket { clicks: i64::MAX, ..bucket(0, 0) };
        let chart = Chart::draw(Granularity::Month, &[most], "clicks");
        assert_eq!(chart.bars[0].height, "186.0");
        assert_eq!([1, 2, 3, 5, 10, 11, 101].map(ceiling), [2, 2, 4, 10, 10, 20, 200]);
    }
}
