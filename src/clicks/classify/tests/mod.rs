//! Tests of classification: from queued clicks to events.

mod agents;
mod events;
mod places;

use kurz_core::analytics::{EventBatch, TextColumn};
use kurz_core::clicks::{Click, ClickFlags, HashedText, QueuedClicks, pack_language};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

use super::{Classifier, ClassifierSettings};

const SEED: u64 = 11;

/// What a request says.
#[derive(Clone, Copy, Debug, Default)]
struct TestRequest<'a> {
    agent: &'a [u8],
    referrer: &'a [u8],
    query: &'a [u8],
    host: &'a [u8],
    language: &'a [u8],
    address: &'a str,
    country: &'a [u8],
    flags: ClickFlags,
}

impl TestRequest<'_> {
    fn queue(&self, queued: &mut QueuedClicks) {
        let click = Click::new(LinkId(7), Timestamp::from_ms(1_000), 5);
        let mut intern = |text| queued.texts.intern(HashedText::hashed(text, SEED));
        let agent = intern(self.agent);
        let referrer = intern(self.referrer);
        let query = intern(self.query);
        let host = intern(self.host);
        let (net, is_v6) = net_of(self.address);
        let country = match self.country {
            [first, second] => u16::from_be_bytes([*first, *second]),
            _ => 0,
        };
        queued.clicks.push(Click {
            person: 99,
            net,
            language: pack_language(self.language),
            agent,
            referrer,
            query,
            host,
            country,
            flags: self.flags.with(ClickFlags::DETAILS).with_if(ClickFlags::V6, is_v6),
            ..click
        });
    }
}

/// As a worker queues an address.
fn net_of(address: &str) -> (u64, bool) {
    match address.parse::<std::net::IpAddr>().map(|address| address.to_canonical()) {
        Ok(std::net::IpAddr::V4(address)) => (address.to_bits().into(), false),
        Ok(std::net::IpAddr::V6(address)) => {
            (u64::try_from(address.to_bits() >> 64).unwrap(), true)
        }
        Err(_) => (0, false),
    }
}

fn classifier() -> Classifier {
    let own_host = Some("kurz.example".to_owned());
    Classifier::new(ClassifierSettings { seed: SEED, own_host, ..Default::default() }).unwrap()
}

/// The events of requests, classified as one batch.
fn classify(classifier: &mut Classifier, requests: &[TestRequest<'_>]) -> EventBatch {
    let mut queued = QueuedClicks::default();
    for request in requests {
        request.queue(&mut queued);
    }
    let mut batch = EventBatch::default();
    classifier.classify(&queued, &|_| Some(3), &mut batch);
    assert_eq!(batch.len(), requests.len());
    batch
}

/// The values of one event, with their columns; without what is unknown.
fn known(batch: &EventBatch, event: usize) -> Vec<(TextColumn, &str)> {
    let all = TextColumn::ALL.into_iter().map(|column| (column, batch.text(column, event)));
    all.filter(|(_, text)| !text.is_empty()).collect()
}
