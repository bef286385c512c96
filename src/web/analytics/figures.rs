//! The five figures on top: what they are, how they changed, and the link that makes the chart count them.

use crate::language::Language;
use crate::web::analytics::chart::{measured, measured_text, scaled};
use crate::web::analytics::filters::{Asked, Measure};
use crate::web::i18n::formats;
use crate::web::i18n::{AnalyticsWords, fill};
use kurz_core::analytics::{AnalyticsReport, Sums};

/// A change of more than this is said to be more.
const MOST_CHANGE: u64 = 9990;

#[derive(Debug)]
pub(super) struct FigureView {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) note: Option<String>,
    pub(super) change: Option<ChangeView>,
    pub(super) href: String,
    pub(super) is_current: bool,
}

/// How much something changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChangeView {
    /// `up`, `down` or `same`, for the style sheet.
    pub(super) kind: &'static str,
    /// With a sign, for those who see.
    pub(super) text: String,
    /// In words, for those who listen.
    pub(super) spoken: String,
}

impl ChangeView {
    pub(super) fn of(language: Language, w: &AnalyticsWords, now: u64, before: u64) -> Self {
        let difference = now.abs_diff(before);
        let thousandths = u128::from(difference) * 1000 / u128::from(before.max(1));
        let thousandths = u64::try_from(thousandths).unwrap_or(u64::MAX);
        let thousandths = if before == 0 { MOST_CHANGE } else { thousandths };
        let rounded = formats::percent(language, thousandths.min(MOST_CHANGE));
        let (sign, amount) =
            if thousandths >= MOST_CHANGE { ("", format!(">{rounded}")) } else { ("+", rounded) };
        if difference == 0 {
            let text = formats::percent(language, 0);
            return Self { kind: "same", text, spoken: w.same.to_owned() };
        }
        if now > before {
            let spoken = fill(w.up, &amount);
            Self { kind: "up", text: format!("{sign}{amount}"), spoken }
        } else {
            let spoken = fill(w.down, &amount);
            Self { kind: "down", text: format!("\u{2212}{amount}"), spoken }
        }
    }
}

pub(super) const fn measure_name(w: &AnalyticsWords, measure: Measure) -> &'static str {
    match measure {
        Measure::Clicks => w.clicks,
        Measure::Visitors => w.visitors,
        Measure::Ratio => w.ratio,
        Measure::Qr => w.qr,
        Measure::Bots => w.bot_clicks,
    }
}

/// The figures of a report.
pub(super) fn figures(
    report: &AnalyticsReport,
    asked: &Asked,
    language: Language,
    w: &AnalyticsWords,
) -> Vec<FigureView> {
    let note = |measure: Measure, sums: &Sums| match measure {
        Measure::Clicks | Measure::Ratio => None,
        Measure::Visitors => Some(basis(w, report.visitors_basis).to_owned()),
        Measure::Qr => (sums.clicks > 0)
            .then(|| formats::percent(language, scaled(sums.qr, 1000, sums.clicks))),
        Measure::Bots if asked.class == "person" => Some(w.not_in_clicks.to_owned()),
        Measure::Bots => Some(w.in_clicks.to_owned()),
    };
    let figure = |measure: Measure| {
        let before = report.before.map(|before| measured(measure, &before));
        let now = measured(measure, &report.total);
        // Compared with nothing, everything is infinitely more.
        let change = before.filter(|before| *before > 0);
        FigureView {
            name: measure_name(w, measure),
            value: measured_text(language, measure, &report.total),
            note: note(measure, &report.total),
            change: change.map(|before| ChangeView::of(language, w, now, before)),
            href: asked.with(|asked| asked.measure = measure).href(),
            is_current: asked.measure == measure,
        }
    };
    Measure::ALL.map(figure).into()
}

/// What visitors are counted by.
fn basis(w: &AnalyticsWords, basis: &str) -> &'static str {
    match basis {
        "week" => w.visitors_by_week,
        "month" => w.visitors_by_month,
        _ => w.visitors_by_day,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::analytics::sample::report_of_days;
    use crate::web::i18n::Words;

    #[test]
    fn figures_say_how_they_changed_and_choose_the_chart() {
        let report = report_of_days(2);
        let words = Words::of(Language::English);
        let asked = Asked::usual();
        let figures = figures(&report, &asked, Language::English, &words.analytics);
        let values: Vec<_> = figures.iter().map(|figure| figure.value.as_str()).collect();
        assert_eq!(values, ["210", "105", "2.00", "21", "10"]);
        assert_eq!(figures[0].change.as_ref().unwrap().text, "+110%");
        assert_eq!(figures[0].href, "?");
        assert_eq!(figures[1].href, "?measure=visitors");
        assert_eq!(figures[1].note.as_deref(), Some("by day, added up"));
        assert_eq!(figures[3].note.as_deref(), Some("10%"));
        assert!(figures[0].is_current && !figures[1].is_current);
    }

    #[test]
    fn changes_have_a_sign_and_words_and_never_run_away() {
        let words = Words::of(Language::German);
        let change = |now, before| ChangeView::of(Language::German, &words.analytics, now, before);
        assert_eq!(change(110, 100).text, "+10\u{a0}%");
        assert_eq!(change(90, 100).text, "\u{2212}10\u{a0}%");
        assert_eq!(change(90, 100).spoken, "minus 10\u{a0}%");
        assert_eq!(change(100, 100).kind, "same");
        assert_eq!(change(0, 0).kind, "same");
        assert_eq!(change(1, 0).text, ">999\u{a0}%");
        assert_eq!(change(u64::MAX, 1).text, ">999\u{a0}%");
        assert_eq!(change(0, 5).text, "\u{2212}100\u{a0}%");
    }
}
