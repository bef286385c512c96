//! Hits that instances reserve in the database: the statements do what the rules say, on both databases.

use std::time::Duration;

use kurz::store::{LoggedEvents, QuotaMembership, Store, WriteSeq};
use kurz_core::clicks::ClickTotals;
use kurz_core::link::{Hour, LinkId, Month};
use kurz_core::quota::grant::{GrantRequest, InstanceBit, Members, QuotaRow};
use kurz_core::time::Timestamp;
use kurz_test_support::rng::Rng;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::json;

on_both_databases!(
    the_statements_and_the_rules_give_the_same_replies,
    a_process_that_is_silent_loses_its_bit_and_hears_of_it,
);

const SILENT: Duration = Duration::from_secs(45);

/// A process that shares quotas, and writes clicks.
struct Member {
    writer: i64,
    writes: i64,
    own: InstanceBit,
}

async fn join(store: &Store) -> Member {
    let writer = store.take_numbers("writer", 1).await.unwrap();
    store.register_writer(writer, NOON).await.unwrap();
    let own = store.join_quota(writer, NOON).await.unwrap().members.own;
    Member { writer, writes: 0, own }
}

impl Member {
    async fn write(&mut self, store: &Store, link: LinkId, month: Month, clicks: u64) {
        let at = Timestamp::from_ms(month.end().as_ms() - 1);
        let hour = Hour::of(at);
        let totals =
            ClickTotals { link, hour, others: 0, clicks, reserved: clicks, nanos: 1, last_at: at };
        self.writes += 1;
        let seq = WriteSeq { writer: self.writer, number: self.writes };
        store.add_totals(seq, &[totals], LoggedEvents::default(), NOON).await.unwrap();
    }
}

async fn the_statements_and_the_rules_give_the_same_replies(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let body = json!({ "original_url": "https://a.example/" });
    let link = links::make(&kurz.http(), "main", &body).await;
    let link = LinkId(link["id"].as_i64().unwrap());
    let store = kurz.open_store().await;
    let mut members = [join(&store).await, join(&store).await, join(&store).await];
    let mut rng = Rng::new(7);
    let first = Month::of(NOON);
    let mut row = QuotaRow::new(first);
    for round in 0..400 {
        let at = usize::try_from(rng.below(3)).unwrap();
        let own = members[at].own;
        let month = Month::from_number(first.number() + i64::from(round / 150));
        match rng.below(8) {
            0 => {
                let clicks = rng.below(30) + 1;
                members[at].write(&store, link, month, clicks).await;
                row.count(month, clicks, clicks);
            }
            1 => {
                store.forget_hits(own, month, &[link]).await.unwrap();
                row.forget(own, month);
            }
            2 if rng.below(4) == 0 => {
                // It ends; the next one has another bit, or the same.
                store.leave_quota(members[at].writer).await.unwrap();
                members[at] = join(&store).await;
            }
            _ => {
                let late = rng.below(20) == 0;
                let request = GrantRequest {
                    link,
                    month: Month::from_number(month.number() - i64::from(late)),
                    limit: 1 + rng.below(2_000),
                    back: (rng.below(3) == 0).then(|| rng.below(40)),
                    need: 1 + rng.below(4),
                    want: rng.below(2_000),
                };
                // The server that made the link runs as well, on PostgreSQL.
                let count = if kind == Kind::Postgres { 4 } else { 3 };
                let place = Members { own, count };
                let live = members.iter().fold(0, |live, one| live | one.own.bits());
                let rules = row.answer(place, live, &request);
                let replies = store.grant_hits(place, &[request]).await.unwrap();
                assert_eq!(replies, [rules], "round {round}: {request:?}");
            }
        }
    }
    kurz.stop().await;
}

async fn a_process_that_is_silent_loses_its_bit_and_hears_of_it(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let store = kurz.open_store().await;
    let (one, two) = (join(&store).await, join(&store).await);
    assert_ne!(one.own, two.own);
    let renew = async |member: &Member, silent: Duration| {
        store.renew_quota(member.writer, member.own, silent, NOON).await.unwrap()
    };
    let QuotaMembership { members, .. } = renew(&one, SILENT).await.unwrap();
    assert_eq!(members.own, one.own);
    assert!(members.count >= 2);
    kurz.execute(&format!(
        "update click_writers set written_at = written_at - 46000 where writer = {}",
        two.writer
    ))
    .await;
    assert!(renew(&one, SILENT).await.is_some());
    assert!(renew(&two, SILENT).await.is_none(), "it was silent for too long");
    let again = store.join_quota(two.writer, NOON).await.unwrap();
    assert!(renew(&Member { own: again.members.own, ..two }, SILENT).await.is_some());
    kurz.stop().await;
}
