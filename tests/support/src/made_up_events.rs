//! A workspace with a past: made-up events of many days, as blocks in the store, for pages that need something to show.

use std::time::Duration;

use kurz::store::{NewEventBlock, Store};
use kurz_core::analytics::block::encode_columns;
use kurz_core::analytics::{EventBatch, PRIVATE, TextColumn, TextValues, day_of};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

use crate::rng::Rng;

const DAY: Duration = Duration::from_hours(24);
const DAY_MS: i64 = 86_400_000;

/// Store `per_day` events of `links` for each of the `days` up to `now`, a third more than the day before a week ago.
pub async fn store_past(
    store: &Store,
    workspace: &str,
    links: &[i64],
    now: Timestamp,
    (days, per_day): (u32, usize),
) {
    let mut rng = Rng::new(7);
    for back in 0..days {
        let at = now.minus(DAY * back);
        let midnight = Timestamp::from_ms(at.as_ms().div_euclid(DAY_MS) * DAY_MS);
        // Fewer at weekends, more lately.
        let weekday = (day_of(at) + 3).rem_euclid(7);
        let count = if weekday > 4 { per_day / 2 } else { per_day };
        let count = count + per_day * usize::try_from(days - back).unwrap() / 60;
        let end = if back == 0 { now } else { midnight.plus(DAY) };
        let batch = made_up(&mut rng, links, midnight, end, count);
        if batch.is_empty() {
            continue;
        }
        let block = NewEventBlock {
            workspace: WorkspaceId::parse(workspace).unwrap(),
            day: day_of(midnight),
            seq: store.take_numbers("event_block", 1).await.unwrap(),
            events: i64::try_from(batch.len()).unwrap(),
            columns: encode_columns(&batch),
        };
        assert!(store.cut_events(&[], vec![block]).await.unwrap());
    }
}

/// Values of a column, from the most frequent to the rarest.
fn values(column: TextColumn) -> &'static [&'static str] {
    match column {
        TextColumn::Host => &["go.acme.example", "links.acme.example"],
        TextColumn::Referrer => &[
            "google.com",
            "t.co",
            "",
            "linkedin.com",
            "news.ycombinator.com",
            "reddit.com",
            "github.com",
            "a-rather-long-host-name.of-a-partner.example.org",
            "bing.com",
            "chatgpt.com",
        ],
        TextColumn::Channel => {
            &["direct", "search", "social", "email", "qr", "referral", "ai", "messenger"]
        }
        TextColumn::Browser => {
            &["Chrome", "Safari", "Firefox", "Edge", "Samsung Internet", "Opera"]
        }
        TextColumn::BrowserVersion => &["142", "18", "145", "141"],
        TextColumn::Os => &["Android", "Windows", "iOS", "macOS", "Linux"],
        TextColumn::OsVersion => &["15", "11", "18"],
        TextColumn::Device => &["phone", "desktop", "tablet", "tv"],
        TextColumn::App => &["", "", "Instagram", "LinkedIn"],
        TextColumn::Language => {
            &["de-DE", "en-US", "en-GB", "es-ES", "fr-FR", "de-AT", "pt-BR", "ja"]
        }
        TextColumn::Country => &[
            "DE", "US", "AT", "GB", "ES", "FR", "CH", "", "BR", "IN", "JP", "AU", "CA", "MX", "ZA",
            "SG", "SE", "PL", "NG", "AR", "ID", "IT", "NL",
        ],
        TextColumn::City => {
            &["Berlin", "New York", "Vienna", "London", "Madrid", "Washington, D.C."]
        }
        TextColumn::Region => &["DE-BE", "US-NY", "AT-9", "GB-ENG"],
        TextColumn::UtmCampaign => &["", "spring-sale", "launch", "newsletter"],
        TextColumn::UtmSource => &["", "newsletter", "poster", "x"],
        TextColumn::UtmMedium => &["", "email", "print", "social"],
        TextColumn::Trigger => &["direct", "direct", "qr"],
        TextColumn::Answer => &["30x"],
        TextColumn::Class | TextColumn::Bot => &[],
        TextColumn::UtmTerm
        | TextColumn::UtmContent
        | TextColumn::Ref
        | TextColumn::Variant
        | TextColumn::Rule => &[""],
    }
}

fn made_up(
    rng: &mut Rng,
    links: &[i64],
    from: Timestamp,
    to: Timestamp,
    count: usize,
) -> EventBatch {
    let mut batch = EventBatch::default();
    let mut texts: Vec<Vec<&'static str>> = vec![Vec::new(); TextColumn::ALL.len()];
    for _ in 0..count {
        // Most people are awake at day.
        let hour = [7, 9, 10, 11, 12, 13, 15, 16, 18, 19, 20, 22, 2][rng.index(13)];
        let at = from.as_ms()
            + i64::from(hour) * 3_600_000
            + i64::try_from(rng.index(3_600_000)).unwrap();
        if at >= to.as_ms() {
            continue;
        }
        let is_bot = rng.index(9) == 0;
        let is_private = !is_bot && rng.index(60) == 0;
        batch.links.push(LinkId(links[rare(rng, links.len())]));
        batch.times.push(Timestamp::from_ms(at));
        batch.visitors.push(1 + u64::try_from(rng.index(count * 2)).unwrap());
        batch.nanos.push(12_000);
        batch.counts.push(1);
        for (column, texts) in TextColumn::ALL.into_iter().zip(&mut texts) {
            texts.push(match column {
                TextColumn::Class if is_bot => "bot",
                TextColumn::Class => "person",
                TextColumn::Bot if is_bot => ["Googlebot", "GPTBot", "bingbot"][rare(rng, 3)],
                TextColumn::Bot => "",
                TextColumn::Host | TextColumn::Answer => values(column)[0],
                _ if is_private => PRIVATE,
                _ => values(column)[rare(rng, values(column).len())],
            });
        }
    }
    for (values, texts) in batch.texts.iter_mut().zip(texts) {
        *values = TextValues::of(texts);
    }
    batch
}

/// An index below `end`, the first ones more often.
fn rare(rng: &mut Rng, end: usize) -> usize {
    rng.index(end).min(rng.index(end)).min(rng.index(end))
}
