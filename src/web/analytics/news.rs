//! What is new today: values that are at least three times their mean of the four same weekdays before, in one
//! sentence each. No guesses about causes.

use crate::web::analytics::cards::RowStyle;
use crate::web::analytics::names::value_name;
use crate::web::i18n::fill;
use crate::web::i18n::formats;
use kurz_core::analytics::{AnalyticsReport, Dimension, TextColumn};

/// Fewer clicks are no news.
const LEAST: u64 = 20;
const TIMES: u64 = 3;
/// Sentences on a page.
const MOST: usize = 5;
/// The weekdays that a day is compared with.
pub(super) const WEEKS: usize = 4;

/// What is looked at.
pub(super) const DIMENSIONS: [Dimension; 4] = [
    Dimension::Link,
    Dimension::Text(TextColumn::Referrer),
    Dimension::Text(TextColumn::Country),
    Dimension::Text(TextColumn::UtmCampaign),
];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct NewsLine {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) href: String,
}

/// The news of `today`, the most striking first. `before` are the same weekdays of the four weeks before.
pub(super) fn news(
    today: &AnalyticsReport,
    before: &[AnalyticsReport],
    style: &RowStyle<'_>,
) -> Vec<NewsLine> {
    // Where nothing was before, everything would be new.
    if before.iter().all(|report| report.total.clicks == 0) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for group in &today.groups {
        for row in group.rows.iter().filter(|row| row.clicks >= LEAST) {
            let usual: u64 = before
                .iter()
                .flat_map(|report| &report.groups)
                .filter(|other| other.dimension == group.dimension)
                .flat_map(|other| &other.rows)
                .filter(|other| other.value == row.value)
                .map(|other| other.clicks)
                .sum();
            let weeks = u64::try_from(before.len().max(1)).unwrap_or(1);
            if row.clicks * weeks >= usual * TIMES {
                found.push((group.dimension, row, usual / weeks));
            }
        }
    }
    found.sort_by_key(|(_, row, usual)| std::cmp::Reverse(row.clicks - (*usual).min(row.clicks)));
    let line = |(dimension, row, usual): (Dimension, &kurz_core::analytics::GroupRow, u64)| {
        let numbers = [row.clicks, usual].map(|one| formats::number(style.language, one));
        let [now, usual] = numbers;
        NewsLine {
            name: value_name(dimension, &row.value, style.language, style.words),
            text: fill(&fill(style.words.analytics.news_line, now), usual),
            href: style
                .asked
                .filtered(dimension, &row.value, false)
                .with(|asked| "today".clone_into(&mut asked.from))
                .href(),
        }
    };
    found.into_iter().take(MOST).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;
    use crate::web::analytics::filters::Asked;
    use crate::web::analytics::sample::{group, report_of_hours};
    use crate::web::i18n::Words;

    #[test]
    fn only_what_is_three_times_as_usual_and_not_rare_is_news() {
        let referrer = Dimension::Text(TextColumn::Referrer);
        let day = |values: &[(&str, u64)]| {
            let mut report = report_of_hours(24);
            report.groups = vec![group(referrer, values)];
            report
        };
        let today =
            day(&[("t.co", 412), ("example.org", 100), ("rare.example", 19), ("new.example", 20)]);
        let before: Vec<_> =
            [40, 20, 30, 30].map(|clicks| day(&[("t.co", clicks), ("example.org", 34)])).into();
        let asked = Asked::usual();
        let style = RowStyle {
            asked: &asked,
            language: Language::English,
            words: Words::of(Language::English),
        };
        let lines = news(&today, &before, &style);
        let texts: Vec<_> =
            lines.iter().map(|line| (line.name.as_str(), line.text.as_str())).collect();
        assert_eq!(
            texts,
            [("t.co", "412 today, usually 30"), ("new.example", "20 today, usually 0")]
        );
        assert_eq!(lines[0].href, "?from=today&filter=referrer%3At.co");
        let mut nothing = day(&[]);
        nothing.total.clicks = 0;
        assert_eq!(news(&today, &[nothing.clone(), nothing], &style), [], "a first day is no news");
    }
}
