//! Every event is in ClickHouse once.

use std::time::Duration;

use kurz::app::CopyCheck;
use kurz_core::account::Caller;
use kurz_core::analytics::{
    AnalyticsQuery, Class, Comparison, Dimension, Interval, RowOrder, TextColumn, TimeRange,
};
use kurz_core::code::WorkspaceId;
use kurz_test_support::clickhouse::{ask, database, number};
use kurz_test_support::{Kind, NOON, Program, TestServer, links, on_both_databases};
use serde_json::json;

use super::proxy::Proxy;
use super::{EVENTS, break_blocks, check_copies, cut, write_and_copy};
use crate::clicks::events::{batch, maintain, store_block};

const DAY: Duration = Duration::from_hours(24);

on_both_databases!(
    events_are_copied_once_though_answers_are_lost_and_rows_are_sent_twice,
    what_was_never_sent_is_copied_when_its_day_is_over,
);

async fn follow(kurz: &TestServer, link: &serde_json::Value, clicks: usize) {
    for _ in 0..clicks {
        kurz.http().get(&links::short_path(link)).await.expect(302);
    }
}

async fn team_link(kurz: &TestServer) -> serde_json::Value {
    links::make(&kurz.http(), "team", &json!({ "original_url": "https://example.com/" })).await
}

async fn events_are_copied_once_though_answers_are_lost_and_rows_are_sent_twice(kind: Kind) {
    let clickhouse = database().await;
    let proxy = Proxy::start(&clickhouse).await;
    proxy.record();
    let kurz = TestServer::builder().database(kind).clickhouse(proxy.url()).start().await;
    let link = team_link(&kurz).await;
    follow(&kurz, &link, 20).await;
    proxy.lose_answers(2);
    cut(&kurz).await;
    // The background job tries as well.
    while kurz.app().copy_waiting_events().await.is_err() || proxy.answers_to_lose() == 2 {}
    assert!(proxy.answers_to_lose() < 2);
    proxy.lose_answers(0);
    follow(&kurz, &link, 11).await;
    write_and_copy(&kurz).await;
    assert_eq!(number(&clickhouse, EVENTS).await, 31, "each once, whatever became of the answer");
    assert_eq!(number(&clickhouse, "SELECT sum(count) FROM kurz_events").await, 31);
    assert_eq!(ask(&clickhouse, "SELECT DISTINCT workspace, link FROM kurz_events").await, {
        format!("team\t{}", link["id"])
    });
    // Somebody sends all rows once more.
    ask(&clickhouse, "INSERT INTO kurz_events SELECT * FROM kurz_events").await;
    let once = number(&clickhouse, "SELECT count() FROM kurz_events FINAL").await;
    assert_eq!(once, 31, "the engine keeps one of equal rows");
    let path = "/api/v1/workspaces/team/analytics?from=24h";
    let answer = kurz.http().get(path).await.expect(200).json();
    assert_eq!(
        answer["total"]["clicks"].as_u64().unwrap() + answer["total"]["bots"].as_u64().unwrap(),
        31
    );
    kurz.advance(DAY);
    check_copies(&kurz, CopyCheck::Days).await;
    assert_eq!(number(&clickhouse, EVENTS).await, 31, "what is there twice is repaired");
    kurz.stop().await;
}

async fn what_was_never_sent_is_copied_when_its_day_is_over(kind: Kind) {
    let clickhouse = database().await;
    let kurz = TestServer::builder().database(kind).clickhouse(clickhouse.as_str()).start().await;
    let store = kurz.open_store().await;
    for (workspace, day) in [("team", 0), ("team", 0), ("team", 1), ("other", 1), ("team", 2)] {
        let at = NOON.minus(DAY * day);
        store_block(&store, workspace, &batch(7, at, &["DE", "FR", "it's \\ \t"])).await;
    }
    check_copies(&kurz, CopyCheck::Days).await;
    assert_eq!(number(&clickhouse, EVENTS).await, 9, "today is not over");
    kurz.advance(DAY);
    check_copies(&kurz, CopyCheck::Days).await;
    assert_eq!(number(&clickhouse, EVENTS).await, 15);
    let countries = "SELECT DISTINCT country FROM kurz_events ORDER BY country";
    assert_eq!(ask(&clickhouse, countries).await, "DE\nFR\nit\\'s \\\\ \\t");
    // Small blocks that become one are the same events.
    maintain(&kurz).await;
    assert_eq!(
        kurz.home.number("select count(*) from event_blocks where column_number = 32").await,
        4
    );
    check_copies(&kurz, CopyCheck::Days).await;
    assert_eq!(number(&clickhouse, EVENTS).await, 15);
    assert_eq!(
        number(
            &clickhouse,
            "SELECT count() FROM system.mutations WHERE database = currentDatabase()"
        )
        .await,
        0
    );
    kurz.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn visitors_of_weeks_and_months_are_counted_as_in_blocks() {
    for period in ["day", "week", "month"] {
        let clickhouse = database().await;
        let builder = TestServer::builder().clickhouse(clickhouse.as_str());
        let kurz = builder.setting("KURZ_VISITOR_PERIOD", period).start().await;
        team_link(&kurz).await;
        let store = kurz.open_store().await;
        for day in 0..40 {
            // The same three visitors every day.
            store_block(&store, "team", &batch(7, NOON.minus(DAY * day), &["DE", "FR", "DE"]))
                .await;
        }
        let query = AnalyticsQuery {
            range: TimeRange { from: NOON.minus(DAY * 39), to: NOON.plus(DAY) },
            interval: Interval::Day,
            zone: "Europe/Berlin".to_owned(),
            link: None,
            groups: vec![Dimension::Text(TextColumn::Country)],
            limit: 5,
            offset: 0,
            order: RowOrder::Visitors,
            filters: Vec::new(),
            compare: Comparison::None,
            class: Some(Class::Person),
        };
        let team = WorkspaceId::parse("team").unwrap();
        let from_blocks = kurz.app().analytics(&Caller::OPEN, &team, &query).await.unwrap();
        assert_eq!(from_blocks.visitors_basis, period);
        kurz.advance(DAY);
        check_copies(&kurz, CopyCheck::Days).await;
        // A new process remembers no sums.
        let kurz = kurz.restart().await;
        kurz.app().copy_waiting_events().await.unwrap();
        break_blocks(&kurz).await;
        let from_clickhouse = kurz.app().analytics(&Caller::OPEN, &team, &query).await.unwrap();
        assert_eq!(from_clickhouse, from_blocks, "{period}");
        kurz.stop().await;
    }
}

// threats: H12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_are_made_by_migrate_the_doctor_looks_and_two_stores_do_not_share_one() {
    let clickhouse = database().await;
    let kurz = |args: &[&str]| Program::kurz(args).env("KURZ_CLICKHOUSE", clickhouse.as_str());
    let text = |program: &Program, code: i32| {
        let output = program.run("");
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!text.contains(clickhouse.password().unwrap()), "{text}");
        text
    };
    let doctor =
        kurz(&["doctor"]).env("KURZ_LISTEN", "127.0.0.1:0").env("KURZ_ADMIN_LISTEN", "off");
    assert!(text(&doctor, 0).contains("has no table for events yet"));
    let said = text(&kurz(&["migrate"]), 0);
    assert!(said.contains("is up to date (ClickHouse "), "{said}");
    assert!(text(&doctor, 0).contains("answers"));
    let mut wrong = clickhouse.clone();
    wrong.set_password(Some("wrong-password-123")).unwrap();
    let wrong = doctor.env("KURZ_CLICKHOUSE", wrong.as_str());
    let said = text(&wrong, 1);
    assert!(said.contains("check that it runs") && !said.contains("wrong-password-123"), "{said}");
    let refused =
        text(&Program::kurz(&["migrate"]).env("KURZ_CLICKHOUSE", "http://me:hunter2@ch"), 2);
    assert!(refused.contains("KURZ_CLICKHOUSE") && !refused.contains("hunter2"), "{refused}");

    let one = TestServer::builder().clickhouse(clickhouse.as_str()).start().await;
    one.app().copy_waiting_events().await.unwrap();
    let two = TestServer::builder().from_now().clickhouse(clickhouse.as_str()).start().await;
    let refused = two.app().copy_waiting_events().await.unwrap_err().to_string();
    assert!(refused.contains("holds the events of another kurz"), "{refused}");
    one.stop().await;
    two.stop().await;
}
