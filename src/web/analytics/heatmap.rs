//! When people click: a grid of the hours of a week, in the zone that was chosen.

use crate::language::Language;
use crate::web::analytics::map::shade;
use crate::web::i18n::formats;
use kurz_core::analytics::{AnalyticsReport, Zone};

const HOURS: usize = 24;
const DAYS: usize = 7;

#[derive(Debug)]
pub(super) struct HeatmapView {
    pub(super) days: Vec<HeatmapDay>,
    /// Hours that are written above, every third.
    pub(super) hours: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct HeatmapDay {
    pub(super) name: &'static str,
    pub(super) cells: Vec<HeatmapCell>,
}

#[derive(Debug)]
pub(super) struct HeatmapCell {
    /// 0 to 5.
    pub(super) shade: u8,
    pub(super) value: String,
    pub(super) title: String,
}

impl HeatmapView {
    /// From a report by the hour; `None` when it has no clicks.
    pub(super) fn draw(report: &AnalyticsReport, zone: &Zone, language: Language) -> Option<Self> {
        let mut clicks = [[0_u64; HOURS]; DAYS];
        for point in &report.series {
            let at = zone.local(point.start);
            let day = clicks.get_mut(usize::from(at.weekday));
            if let Some(cell) = day.and_then(|day| day.get_mut(usize::from(at.hour))) {
                *cell = cell.saturating_add(point.sums.clicks);
            }
        }
        let highest = clicks.iter().flatten().copied().max().filter(|highest| *highest > 0)?;
        let days = clicks.iter().zip(0_u8..).map(|(hours, weekday)| {
            let name = formats::weekday(language, weekday);
            let cell = |(hour, clicks): (usize, &u64)| {
                let value = formats::number(language, *clicks);
                let title = format!("{name} {hour:02}:00 · {value}");
                HeatmapCell { shade: shade(*clicks, highest), value, title }
            };
            HeatmapDay { name, cells: hours.iter().enumerate().map(cell).collect() }
        });
        Some(Self { days: days.collect(), hours: (0..HOURS).step_by(3).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::analytics::sample::report_of_hours;

    #[test]
    fn every_hour_of_the_week_has_a_cell_in_the_zone() {
        let zone = Zone::find("Europe/Berlin").unwrap();
        let mut report = report_of_hours(168);
        for point in &mut report.series {
            point.sums.clicks = 0;
        }
        // Sunday, 1 November, 00:00 and 14:00 in Berlin.
        report.series[0].sums.clicks = 3;
        report.series[14].sums.clicks = 1000;
        let grid = HeatmapView::draw(&report, &zone, Language::English).unwrap();
        assert_eq!(grid.days.iter().map(|day| day.cells.len()).sum::<usize>(), 168);
        let sunday = &grid.days[6];
        assert_eq!(
            (sunday.cells[14].shade, sunday.cells[14].title.as_str()),
            (5, "Sun 14:00 · 1,000")
        );
        assert_eq!((sunday.cells[0].shade, sunday.cells[1].shade), (1, 0));
        report.series.clear();
        assert!(HeatmapView::draw(&report, &zone, Language::English).is_none());
    }
}
