//! What a page of analytics was asked for, as its address says it. Every link on the page is this with one thing
//! changed, so that each figure leads to the filter that gives it.
//!
//! Times, zones and filters are checked where the question is read; here they are texts that are carried along.

use url::form_urlencoded::Serializer;

use crate::web::form::FormData;
use kurz_core::analytics::calendar::RANGE_NAMES;
use kurz_core::analytics::{Dimension, EventFilter, FilterValue};

/// Filters that are carried along; more are refused where the question is read.
const MOST_FILTERS: usize = 33;

pub(super) const USUAL_RANGE: &str = "30d";
pub(super) const UTC: &str = "UTC";

/// What the chart and the bars of the cards count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Measure {
    #[default]
    Clicks,
    Visitors,
    /// Clicks per visitor.
    Ratio,
    Qr,
    Bots,
}

impl Measure {
    pub(super) const ALL: [Self; 5] =
        [Self::Clicks, Self::Visitors, Self::Ratio, Self::Qr, Self::Bots];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Clicks => "clicks",
            Self::Visitors => "visitors",
            Self::Ratio => "ratio",
            Self::Qr => "qr",
            Self::Bots => "bots",
        }
    }

    fn parse(name: &str) -> Self {
        Self::ALL.into_iter().find(|one| one.name() == name).unwrap_or_default()
    }
}

/// An address of the analytics pages without its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// One of [`RANGE_NAMES`], or the first day as `2026-11-16`.
    pub(super) from: String,
    /// The last day, with a first one.
    pub(super) until: String,
    pub(super) zone: String,
    /// `previous` (usual), `year` or `none`.
    pub(super) compare: String,
    /// `person` (usual), `bot` or `all`.
    pub(super) class: String,
    pub(super) measure: Measure,
    /// As the API takes them: `country:DE,AT`.
    pub(super) filters: Vec<String>,
    /// The dimensions that were chosen among those of a card.
    pub(super) show: Vec<Dimension>,
}

impl Asked {
    pub(super) fn read(query: &FormData) -> Self {
        let or = |name: &str, usual: &str| query.word(name).unwrap_or(usual).to_owned();
        let shown = query.text("show").split(',').take(MOST_FILTERS).filter_map(Dimension::parse);
        Self {
            from: or("from", USUAL_RANGE),
            until: or("until", ""),
            zone: or("zone", UTC),
            compare: or("compare", "previous"),
            class: or("class", "person"),
            measure: Measure::parse(query.text("measure")),
            filters: query.all("filter").take(MOST_FILTERS).map(str::to_owned).collect(),
            show: shown.collect(),
        }
    }

    /// The usual page.
    #[cfg(test)]
    pub(super) fn usual() -> Self {
        Self::read(&FormData::default())
    }

    pub(super) fn is_preset(&self) -> bool {
        RANGE_NAMES.contains(&self.from.as_str())
    }

    /// Names and values, without those that are usual.
    fn pairs(&self) -> Vec<(&'static str, String)> {
        let usual = [
            ("from", &self.from, USUAL_RANGE),
            ("until", &self.until, ""),
            ("zone", &self.zone, UTC),
            ("compare", &self.compare, "previous"),
            ("class", &self.class, "person"),
        ];
        let chosen = usual.into_iter().filter(|(_, value, usual)| value != usual);
        let mut pairs: Vec<_> = chosen.map(|(name, value, _)| (name, value.clone())).collect();
        if self.measure != Measure::default() {
            pairs.push(("measure", self.measure.name().to_owned()));
        }
        pairs.extend(self.filters.iter().map(|filter| ("filter", filter.clone())));
        if !self.show.is_empty() {
            let names: Vec<_> = self.show.iter().map(|dimension| dimension.name()).collect();
            pairs.push(("show", names.join(",")));
        }
        pairs
    }

    /// The fields of a form that changes those named `changed`: what it has to carry along.
    pub(super) fn hidden_fields(&self, changed: &[&str]) -> Vec<(&'static str, String)> {
        self.pairs().into_iter().filter(|(name, _)| !changed.contains(name)).collect()
    }

    /// The address at `path`, which is empty for this page, with `more` fields.
    pub(super) fn href_with(&self, path: &str, more: &[(&str, &str)]) -> String {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(more.iter().filter(|(_, value)| !value.is_empty()));
        query.extend_pairs(self.pairs());
        let query = query.finish();
        if query.is_empty() && !path.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{query}")
        }
    }

    /// The address on the same page.
    pub(super) fn href(&self) -> String {
        self.href_with("", &[])
    }

    pub(super) fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = self.clone();
        change(&mut changed);
        changed
    }

    /// Only clicks with this value, or only those without it. A filter that names it already is left as it is.
    pub(super) fn filtered(&self, dimension: Dimension, value: &str, not: bool) -> Self {
        let filter = filter_text(dimension, value, not);
        self.with(|asked| {
            if !asked.filters.contains(&filter) {
                asked.filters.push(filter);
            }
        })
    }

    pub(super) fn without_filter(&self, at: usize) -> Self {
        self.with(|asked| {
            if at < asked.filters.len() {
                asked.filters.remove(at);
            }
        })
    }

    /// Show this dimension in its card, and no other of those.
    pub(super) fn showing(&self, dimension: Dimension, card: &[Dimension]) -> Self {
        self.with(|asked| {
            asked.show.retain(|shown| !card.contains(shown));
            if card.first() != Some(&dimension) {
                asked.show.push(dimension);
            }
        })
    }

    /// The dimension that a card shows: the chosen one, or its first.
    pub(super) fn shown(&self, card: &[Dimension]) -> Option<Dimension> {
        self.show.iter().find(|shown| card.contains(shown)).or(card.first()).copied()
    }

    /// The tag that is the only filter, if one is.
    pub(super) fn only_tag(&self) -> Option<String> {
        let [filter] = self.filters.as_slice() else { return None };
        let EventFilter { dimension, not, values } = EventFilter::parse(filter).ok()?;
        match values.as_slice() {
            [FilterValue::Exactly(tag)] if dimension == Dimension::Tag && !not => {
                Some(tag.to_string()).filter(|tag| !tag.is_empty())
            }
            _ => None,
        }
    }

    /// One day, or several.
    pub(super) fn days(&self, first: &str, last: &str) -> Self {
        self.with(|asked| {
            first.clone_into(&mut asked.from);
            last.clone_into(&mut asked.until);
        })
    }
}

/// The dashboard of one tag, below the path of its workspace.
pub(in crate::web) fn of_tag(workspace: &str, tag: &str) -> String {
    let filter = filter_text(Dimension::Tag, tag, false);
    let query = Serializer::new(String::new()).append_pair("filter", &filter).finish();
    format!("{workspace}/analytics?{query}")
}

/// A filter as the API reads it.
fn filter_text(dimension: Dimension, value: &str, not: bool) -> String {
    let values = vec![FilterValue::Exactly(value.into())];
    EventFilter { dimension, not, values }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::analytics::TextColumn;

    const COUNTRY: Dimension = Dimension::Text(TextColumn::Country);
    const CITY: Dimension = Dimension::Text(TextColumn::City);

    fn read(query: &str) -> Asked {
        Asked::read(&FormData::of_query(&format!("/?{query}").parse().unwrap()))
    }

    #[test]
    fn an_address_says_what_was_chosen_and_nothing_that_is_usual() {
        assert_eq!(Asked::usual().href(), "?");
        assert_eq!(Asked::usual().href_with("/app/w/main/analytics", &[]), "/app/w/main/analytics");
        let text =
            "from=7d&zone=Europe%2FBerlin&class=all&measure=visitors&filter=country%3ADE&show=city";
        let asked = read(text);
        assert_eq!(asked.href(), format!("?{text}"));
        assert_eq!(asked.shown(&[COUNTRY, CITY]), Some(CITY));
        assert_eq!(asked.showing(COUNTRY, &[COUNTRY, CITY]).show, []);
        assert_eq!(asked.without_filter(0).filters, [""; 0]);
        assert_eq!(asked.without_filter(7), asked);
    }

    #[test]
    fn the_dashboard_of_a_tag_is_filtered_by_it_alone() {
        assert_eq!(of_tag("/app/w/acme", "a,b"), "/app/w/acme/analytics?filter=tag%3Aa%5C%2Cb");
        let tag = |filters: &[&str]| {
            let filters = filters.iter().map(|filter| (*filter).to_owned()).collect();
            Asked::usual().with(|asked| asked.filters = filters).only_tag()
        };
        assert_eq!(tag(&["tag:a\\,b"]).as_deref(), Some("a,b"));
        for other in [&[][..], &["tag:a", "tag:b"], &["-tag:a"], &["tag:a,b"], &["tag:a*"]] {
            assert_eq!(tag(other), None, "{other:?}");
        }
        assert_eq!((tag(&["tag:"]), tag(&["host:a"])), (None, None));
    }

    #[test]
    fn a_filter_keeps_its_value_whatever_it_holds() {
        for value in ["DE", "", "Washington, D.C.", "50*", "a\\b", ":", "-x", "ü\u{202e}"] {
            for not in [false, true] {
                let text = filter_text(CITY, value, not);
                let read_back = EventFilter::parse(&text).unwrap();
                assert_eq!(read_back.values, [FilterValue::Exactly(value.into())]);
                assert_eq!((read_back.dimension, read_back.not), (CITY, not));
                let asked = Asked::usual().filtered(CITY, value, not);
                let again = read(asked.href().trim_start_matches('?'));
                assert_eq!(again, asked);
                assert_eq!(asked.filtered(CITY, value, not), asked, "it is there once");
            }
        }
    }

    #[test]
    fn what_is_carried_along_is_bounded() {
        let many = "filter=country:DE&".repeat(1000);
        assert_eq!(read(&many).filters.len(), MOST_FILTERS);
    }
}
