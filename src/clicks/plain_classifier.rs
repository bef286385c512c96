//! A classifier that tells people from others and nothing more.

use xxhash_rust::xxh64::xxh64;

use crate::clicks::ClickClassifier;
use kurz_core::analytics::{Class, EventBatch, PRIVATE, TextColumn, TextValues, UNKNOWN};
use kurz_core::clicks::{Click, ClickFlags, QueuedClicks};
use kurz_core::link::LinkId;

/// The bits of a visitor's hash that are kept.
const VISITOR_BITS: u64 = (1 << 40) - 1;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlainClassifier;

impl ClickClassifier for PlainClassifier {
    fn classify(
        &mut self,
        queued: &QueuedClicks,
        keys: &dyn Fn(LinkId) -> Option<u64>,
        _: &dyn Fn() -> bool,
        out: &mut EventBatch,
    ) -> usize {
        let known = |click: &Click| {
            let key = keys(click.link)?;
            click.flags.has(ClickFlags::DETAILS).then_some((*click, key))
        };
        let clicks: Vec<(Click, u64)> = queued.clicks.iter().filter_map(known).collect();
        for (click, key) in &clicks {
            out.links.push(click.link);
            out.times.push(click.at);
            let hash = xxh64(&click.person.to_le_bytes(), *key) & VISITOR_BITS;
            out.visitors.push(if click.person == 0 { 0 } else { hash.max(1) });
            out.nanos.push(click.nanos);
            out.counts.push(1);
        }
        for (column, values) in TextColumn::ALL.into_iter().zip(&mut out.texts) {
            let text = |(click, _): &(Click, u64)| match column {
                TextColumn::Class if click.flags.has(ClickFlags::OTHER) => Class::Bot.name(),
                TextColumn::Class => Class::Person.name(),
                TextColumn::Answer => click.answer.name(),
                _ if click.flags.has(ClickFlags::PRIVATE) => PRIVATE,
                _ => UNKNOWN,
            };
            let more = TextValues::of(clicks.iter().map(text));
            append(values, more);
        }
        queued.clicks.len()
    }
}

fn append(into: &mut TextValues, more: TextValues) {
    let first = u32::try_from(into.dictionary.len()).unwrap_or(u32::MAX);
    into.dictionary.extend(more.dictionary);
    into.indexes.extend(more.indexes.into_iter().map(|index| first.saturating_add(index)));
}
