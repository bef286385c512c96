//! A scan of events as SQL: the conditions, sums and groups that `kurz_core::analytics::scan` folds blocks by.

use std::fmt::Write;

use crate::clickhouse::counted_range::DayQuestion;
use crate::clickhouse::statements::{TABLE, by_block, list, on_days, text};
use kurz_core::analytics::day_partial::RowKeys;
use kurz_core::analytics::scan_plan::{BOT_CLASSES, Counted, LinkSet, QR, REDIRECT, ScanPlan};
use kurz_core::analytics::{
    Class, Dimension, EventFilter, FilterValue, TextColumn, UNKNOWN, VisitorPeriod,
};
use kurz_core::link::LinkId;

/// Servers read statements of up to 256 KiB.
pub(super) const MOST_BYTES: usize = 200_000;
/// Stretches of buckets of the same length: days have two more where clocks change, months are all different.
const MOST_STRETCHES: usize = 200;
/// Rows of tags, each of which is a sum of its own.
const MOST_TAGS: usize = 64;

impl DayQuestion<'_> {
    /// Of each day: its number, its events, and how many of its blocks are there twice.
    pub(super) fn days(&self) -> String {
        let blocks = by_block("day", &self.stored());
        format!(
            "SELECT toUInt16(day), sum(events), sum(events != expected) FROM ({blocks}) GROUP BY day \
             FORMAT RowBinary"
        )
    }

    /// Of each bucket: its number, clicks, visitors, clicks of bots, from QR codes, and without details. `None`
    /// when its buckets are too irregular for a statement.
    pub(super) fn series(&self) -> Option<String> {
        let bucket = bucket(&self.plan.buckets)?;
        let [selected, bots] = [Counted::Selected, Counted::Bots].map(|it| counted(self.plan, it));
        let visitors = visitors(self.plan, &selected);
        let [trigger, answer] = [TextColumn::Trigger, TextColumn::Answer].map(column);
        let (qr, bare) = (text(QR), text(UNKNOWN));
        Some(format!(
            "SELECT {bucket} AS bucket, sumIf(count, {selected}), {visitors}, sumIf(count, {bots}), \
             sumIf(count, {selected} AND {trigger} = {qr}), sumIf(count, {selected} AND {answer} = {bare}) \
             FROM {TABLE} WHERE {} GROUP BY bucket FORMAT RowBinary",
            self.asked()
        ))
    }

    /// All visitors.
    pub(super) fn visitors(&self) -> String {
        let visitors = visitors(self.plan, &counted(self.plan, Counted::Selected));
        format!("SELECT {visitors} FROM {TABLE} WHERE {} FORMAT RowBinary", self.asked())
    }

    /// Clicks by value of a dimension; by link for tags.
    pub(super) fn group(&self, group: Dimension) -> String {
        let (value, asked) = (value(group), self.asked());
        let counted = counted(self.plan, Counted::of(group));
        format!(
            "SELECT {value}, sum(count) FROM {TABLE} WHERE {asked} AND {counted} GROUP BY {value} \
             FORMAT RowBinary"
        )
    }

    /// The visitors of rows of a group: by value where each row is one, else one column for each row.
    pub(super) fn rows(&self, group: Dimension, keys: &RowKeys) -> Option<String> {
        let (value, asked) = (value(group), self.asked());
        let counted = counted(self.plan, Counted::of(group));
        let values = match keys {
            RowKeys::Texts(keys) => keys.iter().map(|key| text(key)).collect::<Vec<_>>().join(", "),
            RowKeys::Links(keys) if is_single(keys) => {
                list(keys.iter().flatten().map(|link| link.0))
            }
            RowKeys::Links(keys) if keys.len() > MOST_TAGS => return None,
            RowKeys::Links(keys) => {
                let visitors = |links: &Vec<LinkId>| {
                    visitors(self.plan, &allowed(&LinkSet::new(links.clone(), false)))
                };
                let visitors: Vec<String> = keys.iter().map(visitors).collect();
                return Some(format!(
                    "SELECT {} FROM {TABLE} WHERE {asked} AND {counted} FORMAT RowBinary",
                    visitors.join(", ")
                ));
            }
        };
        let visitors = visitors(self.plan, &counted);
        Some(format!(
            "SELECT {value}, {visitors} FROM {TABLE} WHERE {asked} AND {value} IN ({values}) \
             GROUP BY {value} FORMAT RowBinary"
        ))
    }

    /// The rows of the days, as they were when the question was asked.
    fn stored(&self) -> String {
        let workspace = text(self.workspace.as_str());
        let (days, last) = (on_days(&self.days), self.last_block);
        format!("workspace = {workspace} AND {days} AND block <= {last}")
    }

    /// Those that pass range, links and filters.
    fn asked(&self) -> String {
        let plan = self.plan;
        let mut condition = self.stored();
        let (from, to) = (plan.range.from.as_ms(), plan.range.to.as_ms());
        let _ = write!(condition, " AND at >= {from} AND at < {to}");
        let links = plan.links.iter().map(allowed);
        for part in links.chain(plan.filters.iter().map(passes)) {
            let _ = write!(condition, " AND {part}");
        }
        condition
    }
}

pub(super) fn is_single(keys: &[Vec<LinkId>]) -> bool {
    keys.iter().all(|links| links.len() == 1)
}

fn column(column: TextColumn) -> String {
    format!("`{}`", column.name())
}

fn value(group: Dimension) -> String {
    match group {
        Dimension::Text(text) => column(text),
        Dimension::Link | Dimension::Tag => "link".to_owned(),
    }
}

fn one_of(column: &str, texts: impl IntoIterator<Item = &'static str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(text).collect();
    format!("{column} IN ({})", texts.join(", "))
}

/// Which events count.
fn counted(plan: &ScanPlan, counted: Counted) -> String {
    let class = column(TextColumn::Class);
    let redirects = if plan.is_about_redirects() {
        one_of(&column(TextColumn::Answer), [REDIRECT, UNKNOWN])
    } else {
        "1".to_owned()
    };
    let selected = match plan.class {
        None => "1".to_owned(),
        Some(Class::Person) => one_of(&class, [Class::Person.name(), UNKNOWN]),
        Some(wanted) => one_of(&class, [wanted.name()]),
    };
    match counted {
        Counted::Selected => format!("({redirects} AND {selected})"),
        Counted::Bots => {
            format!("({redirects} AND {})", one_of(&class, BOT_CLASSES.map(Class::name)))
        }
        Counted::Classes => redirects,
        Counted::Answers => selected,
    }
}

/// Distinct visitors of events that meet a condition, added up over the periods.
fn visitors(plan: &ScanPlan, condition: &str) -> String {
    let period = match plan.basis {
        VisitorPeriod::Day => "day",
        VisitorPeriod::Week => "toMonday(day)",
        VisitorPeriod::Month => "toStartOfMonth(day)",
    };
    format!("uniqExactIf({period}, visitor, visitor != 0 AND {condition})")
}

fn allowed(set: &LinkSet) -> String {
    match (set.links.is_empty(), set.not) {
        (true, not) => u8::from(not).to_string(),
        (false, false) => format!("link IN ({})", list(set.links.iter().map(|link| link.0))),
        (false, true) => format!("link NOT IN ({})", list(set.links.iter().map(|link| link.0))),
    }
}

fn passes(filter: &EventFilter) -> String {
    let column = value(filter.dimension);
    let matches = |value: &FilterValue| match value {
        FilterValue::Exactly(value) => format!("{column} = {}", text(value)),
        FilterValue::Prefix(start) => format!("startsWith({column}, {})", text(start)),
    };
    let any = filter.values.iter().map(matches).collect::<Vec<_>>().join(" OR ");
    format!("{}({any})", if filter.not { "NOT " } else { "" })
}

/// The number of the bucket of an event. Stretches of buckets of the same length are a division each.
fn bucket(starts: &[i64]) -> Option<String> {
    let [before @ .., _] = starts else { return None };
    if before.is_empty() {
        return Some("at - at".to_owned());
    }
    let mut cases = Vec::new();
    let lengths: Vec<i64> =
        before.iter().zip(starts.iter().skip(1)).map(|(start, next)| next - start).collect();
    let mut first = 0;
    for stretch in lengths.chunk_by(|left, right| left == right) {
        let end = first + stretch.len();
        let (start, until) = (starts.get(first)?, starts.get(end)?);
        let length = stretch.first()?;
        cases.push(format!("at < {until}, toInt64({first} + intDiv(at - {start}, {length}))"));
        first = end;
    }
    if cases.len() > MOST_STRETCHES {
        return None;
    }
    Some(format!("multiIf({}, toInt64({first}))", cases.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_one_length_are_one_division() {
        assert_eq!(bucket(&[]), None);
        assert_eq!(bucket(&[50]).unwrap(), "at - at");
        assert_eq!(
            bucket(&[0, 10, 20]).unwrap(),
            "multiIf(at < 20, toInt64(0 + intDiv(at - 0, 10)), toInt64(2))"
        );
        assert_eq!(
            bucket(&[0, 10, 20, 25, 35]).unwrap(),
            "multiIf(at < 20, toInt64(0 + intDiv(at - 0, 10)), at < 25, toInt64(2 + intDiv(at - 20, 5)), \
             at < 35, toInt64(3 + intDiv(at - 25, 10)), toInt64(4))"
        );
        let irregular: Vec<i64> = (0..1_000).map(|at| at * at).collect();
        assert_eq!(bucket(&irregular), None);
    }

    #[test]
    fn filters_are_conditions() {
        for (filter, condition) in [
            ("country:DE", "(`country` = unhex('4445'))"),
            ("-country:DE,", "NOT (`country` = unhex('4445') OR `country` = unhex(''))"),
            ("ref:a*", "(startsWith(`ref`, unhex('61')))"),
        ] {
            assert_eq!(passes(&EventFilter::parse(filter).unwrap()), condition);
        }
        assert_eq!(allowed(&LinkSet::new(Vec::new(), false)), "0");
        assert_eq!(allowed(&LinkSet::new(Vec::new(), true)), "1");
        assert_eq!(allowed(&LinkSet::new(vec![LinkId(7), LinkId(5)], true)), "link NOT IN (5, 7)");
    }
}
