//! Folds blocks of events into the sums of a day. A column is decompressed into a buffer that is used again, its
//! dictionary is looked at once, and what is done for each event is a loop over small numbers.

use crate::analytics::block::{BlockError, COUNT, ColumnReader, LINK, PlainColumn, TIME, VISITOR};
use crate::analytics::day_partial::{DayPartial, Distinct, RowKeys, ShownRows};
use crate::analytics::scan_loops::{BucketHistogram, MAX_CLASSES, Weights, count, restrict, weigh};
use crate::analytics::scan_plan::{Counted, QR, ScanPlan, is_bot_class, is_redirect, number};
use crate::analytics::value_counts::GroupCounts;
use crate::analytics::{Dimension, TextColumn, UNKNOWN};
use crate::link::LinkId;

/// The columns of a block, or of a row of the event log.
#[derive(Debug)]
pub struct BlockColumns<'a> {
    events: usize,
    columns: Contents<'a>,
}

#[derive(Debug)]
enum Contents<'a> {
    Stored(Vec<(u8, &'a [u8])>),
    Opened(Vec<(u8, PlainColumn<'a>)>),
}

impl<'a> BlockColumns<'a> {
    /// Columns of a block with this many events. Those that are not there are unknown.
    pub fn stored(events: usize, columns: Vec<(u8, &'a [u8])>) -> Self {
        Self { events, columns: Contents::Stored(columns) }
    }

    /// A row of the event log.
    pub fn row(data: &'a [u8]) -> Result<Self, BlockError> {
        let columns = ColumnReader::open_row(data)?;
        let events = columns.first().map_or(0, |(_, column)| column.events);
        Ok(Self { events, columns: Contents::Opened(columns) })
    }

    /// The distinct links of its events.
    pub fn links(&self) -> Result<Vec<LinkId>, BlockError> {
        let mut opener = Opener::default();
        let links = opener.open(self, LINK)?.map(|column| column.numbers()).transpose()?;
        Ok(links
            .map(|links| links.dictionary.into_iter().map(LinkId).collect())
            .unwrap_or_default())
    }

    /// The earliest and the latest time of its events, in milliseconds.
    pub fn times(&self) -> Result<Option<(i64, i64)>, BlockError> {
        let mut times = Vec::new();
        if let Some(column) = Opener::default().open(self, TIME)? {
            column.times(&mut times)?;
        }
        Ok(times.iter().min().copied().zip(times.iter().max().copied()))
    }
}

#[derive(Debug, Default)]
struct Opener {
    reader: ColumnReader,
    buffer: Vec<u8>,
}

impl Opener {
    fn open<'x>(
        &'x mut self,
        block: &BlockColumns<'x>,
        column: u8,
    ) -> Result<Option<PlainColumn<'x>>, BlockError> {
        let opened = match &block.columns {
            Contents::Stored(columns) => {
                let Some((_, data)) = columns.iter().find(|(number, _)| *number == column) else {
                    return Ok(None);
                };
                self.reader.open(column, data, &mut self.buffer)?
            }
            Contents::Opened(columns) => {
                let Some((_, opened)) = columns.iter().find(|(number, _)| *number == column) else {
                    return Ok(None);
                };
                *opened
            }
        };
        if opened.events != block.events {
            return Err(BlockError::Malformed("its columns have different numbers of events"));
        }
        Ok(Some(opened))
    }
}

/// Scans blocks one after the other, with buffers that are used again.
#[derive(Debug, Default)]
pub struct Scanner {
    opener: Opener,
    weights: Weights,
    /// The bucket of each event within the day; empty when there is only one.
    buckets: Vec<u16>,
    classes: Vec<u16>,
    indexes: Vec<u16>,
    times: Vec<i64>,
    visitors: Vec<u64>,
    histogram: Vec<u64>,
}

impl Scanner {
    /// Add the events of a day to its sums, and the visitors of the rows to theirs. Nothing is added when it
    /// fails. A damaged column that is only shown counts as unknown.
    pub fn scan(
        &mut self,
        plan: &ScanPlan,
        rows: &ShownRows,
        day: i64,
        block: &BlockColumns<'_>,
        sums: &mut DayPartial,
    ) -> Result<(), BlockError> {
        if block.events == 0 {
            return Ok(());
        }
        let is_any = self.filter(plan, day, block)?;
        if is_any {
            self.classify(plan, block, sums)?;
        }
        sums.events += u64::try_from(block.events).unwrap_or(0);
        if !is_any {
            return Ok(());
        }
        if sums.has_cells() && self.count_qr(block, sums).is_err() {
            sums.damaged_columns += 1;
        }
        if self.read_visitors(block).is_err() {
            self.visitors.clear();
            sums.damaged_columns += 1;
        }
        if sums.has_cells() {
            self.add_visitors(sums);
        }
        for (place, group) in plan.groups.iter().enumerate() {
            let counted = Counted::of(*group);
            if let Some(counts) = sums.groups.get_mut(place)
                && self.count_group(*group, counted, block, counts).is_err()
            {
                sums.damaged_columns += 1;
                if let GroupCounts::Texts(counts) = counts {
                    counts.merge(std::iter::once((UNKNOWN, self.weights.total(counted))));
                }
            }
            let rows_of = sums.rows.get_mut(place);
            if let Some((keys, rows)) = rows.groups.get(place).zip(rows_of)
                && !keys.is_empty()
                && self.add_row_visitors(*group, counted, block, keys, rows).is_err()
            {
                sums.damaged_columns += 1;
            }
        }
        Ok(())
    }

    /// The events of a day that are asked about: time and place in the block.
    pub fn matching(
        &mut self,
        plan: &ScanPlan,
        day: i64,
        block: &BlockColumns<'_>,
    ) -> Result<Vec<(i64, usize)>, BlockError> {
        if block.events == 0 || !self.filter(plan, day, block)? {
            return Ok(Vec::new());
        }
        self.classify(plan, block, &mut DayPartial::default())?;
        let Some(column) = self.opener.open(block, TIME)? else {
            return Err(BlockError::Malformed("it has no times"));
        };
        column.times(&mut self.times)?;
        let events = self.times.iter().copied().zip(0..).zip(&self.weights.selected);
        Ok(events.filter(|(_, weight)| **weight != 0).map(|(event, _)| event).collect())
    }

    fn read_visitors(&mut self, block: &BlockColumns<'_>) -> Result<(), BlockError> {
        self.visitors.clear();
        if let Some(column) = self.opener.open(block, VISITOR)? {
            column.visitors(&mut self.visitors)?;
        }
        Ok(())
    }

    /// Fill `redirects` with what passes links, filters and times; false when nothing does.
    fn filter(
        &mut self,
        plan: &ScanPlan,
        day: i64,
        block: &BlockColumns<'_>,
    ) -> Result<bool, BlockError> {
        self.weights.redirects.clear();
        self.weights.redirects.resize(block.events, 1);
        if !plan.links.is_empty() {
            let Some(column) = self.opener.open(block, LINK)? else { return Ok(false) };
            let links = column.numbers()?;
            let allows = |link: &i64| plan.links.iter().all(|filter| filter.allows(LinkId(*link)));
            let allowed: Vec<bool> = links.dictionary.iter().map(allows).collect();
            if !restrict(&mut self.weights.redirects, links.indexes, &allowed) {
                return Ok(false);
            }
        }
        for (filter, column) in plan.filters.iter().zip(plan.filter_columns()) {
            let Some(column) = self.opener.open(block, number(column))? else {
                if filter.allows(UNKNOWN) {
                    continue;
                }
                return Ok(false);
            };
            let texts = column.texts()?;
            let allowed: Vec<bool> =
                texts.dictionary.iter().map(|text| filter.allows(text)).collect();
            if !restrict(&mut self.weights.redirects, texts.indexes, &allowed) {
                return Ok(false);
            }
        }
        self.place_in_time(plan, day, block)?;
        if let Some(column) = self.opener.open(block, COUNT)? {
            let mut counts = Vec::new();
            column.counts(&mut counts)?;
            for (weight, count) in self.weights.redirects.iter_mut().zip(counts) {
                *weight *= count;
            }
        }
        Ok(self.weights.redirects.iter().any(|weight| *weight != 0))
    }

    /// Leave out what is not in the range, and tell the bucket of the rest.
    fn place_in_time(
        &mut self,
        plan: &ScanPlan,
        day: i64,
        block: &BlockColumns<'_>,
    ) -> Result<(), BlockError> {
        self.buckets.clear();
        let (_, cuts) = plan.cuts(day);
        // The events of a block are of its day; a row of the log has any.
        let is_whole = plan.has_whole(day) && matches!(block.columns, Contents::Stored(_));
        if is_whole && cuts.is_empty() {
            return Ok(());
        }
        let Some(column) = self.opener.open(block, TIME)? else {
            return Err(BlockError::Malformed("it has no times"));
        };
        column.times(&mut self.times)?;
        let (from, to) = plan.within(day);
        for (weight, time) in self.weights.redirects.iter_mut().zip(&self.times) {
            *weight *= u32::from((from..to).contains(time));
        }
        if !cuts.is_empty() {
            // Times hardly ever go back, so the bucket is nearly always the last one.
            let bounds = |bucket: usize| {
                let start = bucket.checked_sub(1).and_then(|before| cuts.get(before));
                (start.copied().unwrap_or(i64::MIN), cuts.get(bucket).copied().unwrap_or(i64::MAX))
            };
            let (mut bucket, mut range) = (0_u16, bounds(0));
            for time in &self.times {
                if *time < range.0 || *time >= range.1 {
                    let place = cuts.partition_point(|start| start <= time);
                    (bucket, range) = (u16::try_from(place).unwrap_or(u16::MAX), bounds(place));
                }
                self.buckets.push(bucket);
            }
        }
        Ok(())
    }

    /// Tell people from bots and redirects from other answers, and count the clicks of each bucket.
    fn classify(
        &mut self,
        plan: &ScanPlan,
        block: &BlockColumns<'_>,
        sums: &mut DayPartial,
    ) -> Result<(), BlockError> {
        let mut names: Vec<Box<str>> = vec![UNKNOWN.into()];
        self.classes.clear();
        if let Some(column) = self.opener.open(block, number(TextColumn::Class))? {
            let texts = column.texts()?;
            if texts.dictionary.len() > MAX_CLASSES {
                return Err(BlockError::Malformed("it has too many classes"));
            }
            texts.indexes.read_into(&mut self.classes);
            names = texts.dictionary.iter().map(|text| Box::from(*text)).collect();
        } else {
            self.classes.resize(block.events, 0);
        }
        let selects: Vec<u32> = names.iter().map(|name| plan.selects(name).into()).collect();
        let is_bot: Vec<u32> = names.iter().map(|name| is_bot_class(name).into()).collect();

        self.weights.answers.clear();
        if plan.groups.iter().any(|group| Counted::of(*group) == Counted::Answers) {
            weigh(&self.weights.redirects, &self.classes, &selects, &mut self.weights.answers);
        }
        // Clicks whose details were dropped have no answer.
        let mut bare = Some(true);
        if let Some(column) = self.opener.open(block, number(TextColumn::Answer))? {
            let texts = column.texts()?;
            bare = (texts.dictionary.first() == Some(&UNKNOWN)).then_some(false);
            texts.indexes.read_into(&mut self.indexes);
            if plan.is_about_redirects() {
                let is_redirect = |text: &&str| is_redirect(text);
                let allowed: Vec<bool> = texts.dictionary.iter().map(is_redirect).collect();
                restrict(&mut self.weights.redirects, texts.indexes, &allowed);
            }
        }
        weigh(&self.weights.redirects, &self.classes, &selects, &mut self.weights.selected);
        weigh(&self.weights.redirects, &self.classes, &is_bot, &mut self.weights.bots);

        if sums.has_cells() {
            let places = BucketHistogram { buckets: &self.buckets, values: names.len() };
            let redirects = &self.weights.redirects;
            places.count(sums.cells(), &self.classes, redirects, &mut self.histogram);
            for (bucket, counts) in self.histogram.chunks(names.len()).enumerate() {
                for (count, (selects, is_bot)) in counts.iter().zip(selects.iter().zip(&is_bot)) {
                    sums.add_clicks(bucket, *count, *selects == 1, *is_bot == 1);
                }
            }
            if let Some(are_all) = bare {
                self.count_bare(are_all, sums);
            }
        }
        Ok(())
    }

    /// Count the clicks without an answer: all, or those with the first one of the dictionary.
    fn count_bare(&self, are_all: bool, sums: &mut DayPartial) {
        for (event, weight) in self.weights.selected.iter().enumerate() {
            let index = self.indexes.get(event).copied().unwrap_or(0);
            if *weight != 0 && (are_all || index == 0) {
                let bucket = self.buckets.get(event).copied().unwrap_or(0);
                sums.add_bare(bucket.into(), u64::from(*weight));
            }
        }
    }

    fn count_qr(
        &mut self,
        block: &BlockColumns<'_>,
        sums: &mut DayPartial,
    ) -> Result<(), BlockError> {
        let Some(column) = self.opener.open(block, number(TextColumn::Trigger))? else {
            return Ok(());
        };
        let texts = column.texts()?;
        let Ok(qr) = texts.dictionary.binary_search(&QR) else { return Ok(()) };
        texts.indexes.read_into(&mut self.indexes);
        let values = texts.dictionary.len();
        let places = BucketHistogram { buckets: &self.buckets, values };
        places.count(sums.cells(), &self.indexes, &self.weights.selected, &mut self.histogram);
        for (bucket, counts) in self.histogram.chunks(values).enumerate() {
            sums.add_qr(bucket, counts.get(qr).copied().unwrap_or(0));
        }
        Ok(())
    }

    fn add_visitors(&self, sums: &mut DayPartial) {
        if self.buckets.is_empty() {
            if let Some(set) = sums.visitors_mut(0) {
                for (visitor, weight) in self.visitors.iter().zip(&self.weights.selected) {
                    if *weight != 0 {
                        set.insert(*visitor);
                    }
                }
            }
            return;
        }
        let placed = self.visitors.iter().zip(&self.weights.selected).zip(&self.buckets);
        for ((visitor, weight), bucket) in placed {
            if *weight != 0
                && let Some(set) = sums.visitors_mut(usize::from(*bucket))
            {
                set.insert(*visitor);
            }
        }
    }

    fn count_group(
        &mut self,
        group: Dimension,
        counted: Counted,
        block: &BlockColumns<'_>,
        counts: &mut GroupCounts,
    ) -> Result<(), BlockError> {
        let weights = self.weights.of(counted);
        match counts {
            GroupCounts::Links(counts) => {
                if let Some(column) = self.opener.open(block, LINK)? {
                    let links = column.numbers()?;
                    links.indexes.read_into(&mut self.indexes);
                    count(&self.indexes, weights, links.dictionary.len(), &mut self.histogram);
                    let links = links.dictionary.into_iter().map(LinkId);
                    counts.merge(links.zip(self.histogram.iter().copied()));
                }
            }
            GroupCounts::Texts(counts) => {
                let column = match group {
                    Dimension::Text(column) => self.opener.open(block, number(column))?,
                    Dimension::Link | Dimension::Tag => None,
                };
                if let Some(column) = column {
                    let texts = column.texts()?;
                    texts.indexes.read_into(&mut self.indexes);
                    count(&self.indexes, weights, texts.dictionary.len(), &mut self.histogram);
                    counts.merge(texts.dictionary.into_iter().zip(self.histogram.iter().copied()));
                } else {
                    counts.merge(std::iter::once((UNKNOWN, self.weights.total(counted))));
                }
            }
        }
        Ok(())
    }

    /// The visitors of the rows that are shown.
    fn add_row_visitors(
        &mut self,
        group: Dimension,
        counted: Counted,
        block: &BlockColumns<'_>,
        keys: &RowKeys,
        rows: &mut [Distinct],
    ) -> Result<(), BlockError> {
        let table = match (group, keys) {
            (Dimension::Text(column), RowKeys::Texts(keys)) => {
                let Some(column) = self.opener.open(block, number(column))? else { return Ok(()) };
                let texts = column.texts()?;
                texts.indexes.read_into(&mut self.indexes);
                let mut table = vec![Vec::new(); texts.dictionary.len()];
                for (row, key) in keys.iter().enumerate() {
                    if let Ok(place) = texts.dictionary.binary_search(&&**key)
                        && let Some(place) = table.get_mut(place)
                    {
                        place.push(row);
                    }
                }
                table
            }
            (_, RowKeys::Links(keys)) => {
                let Some(column) = self.opener.open(block, LINK)? else { return Ok(()) };
                let links = column.numbers()?;
                links.indexes.read_into(&mut self.indexes);
                let rows_of = |link: &i64| {
                    let has = |(_, links): &(usize, &Vec<LinkId>)| {
                        links.binary_search(&LinkId(*link)).is_ok()
                    };
                    keys.iter().enumerate().filter(has).map(|(row, _)| row).collect()
                };
                links.dictionary.iter().map(rows_of).collect::<Vec<Vec<usize>>>()
            }
            _ => return Ok(()),
        };
        if table.iter().all(Vec::is_empty) {
            return Ok(());
        }
        // Most values have no row: what is looked at for each event is a byte.
        let is_shown: Vec<bool> = table.iter().map(|rows| !rows.is_empty()).collect();
        let weights = self.weights.of(counted);
        for ((index, weight), visitor) in self.indexes.iter().zip(weights).zip(&self.visitors) {
            let index = usize::from(*index);
            if *weight == 0 || !is_shown.get(index).copied().unwrap_or(false) {
                continue;
            }
            for row in table.get(index).into_iter().flatten() {
                if let Some(set) = rows.get_mut(*row).and_then(|row| row.set_mut()) {
                    set.insert(*visitor);
                }
            }
        }
        Ok(())
    }
}
