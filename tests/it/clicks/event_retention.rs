//! How long events are kept, what is left of them, and what is removed on request or by a narrower mode.

use std::time::Duration;

use kurz::app::WorkspacePrivacy;
use kurz_core::account::Caller;
use kurz_core::analytics::{
    AnalyticsMode, DaySums, TextColumn, TimeRange, UNKNOWN, WHOLE_WORKSPACE, day_of,
};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;
use kurz_test_support::events::StoredEvents;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::json;

use super::events::{batch, maintain, store_block};

const DAY: Duration = Duration::from_hours(24);
const MINUTES: Duration = Duration::from_mins(4);

on_both_databases!(
    a_day_becomes_sums_when_its_time_is_over_and_sums_go_after_theirs,
    sums_of_purged_links_are_removed,
    a_workspace_may_keep_less_than_the_server,
    a_narrower_mode_removes_what_it_does_not_keep_within_the_hour,
    details_are_removed_on_request_and_counts_stay,
    a_workspace_sets_its_own_networks_apart,
    in_mode_off_nothing_but_counts_is_written,
    in_mode_aggregate_cities_and_terms_are_never_written,
);

fn team() -> WorkspaceId {
    WorkspaceId::parse("team").unwrap()
}

async fn team_link(kurz: &TestServer) -> serde_json::Value {
    links::make(&kurz.http(), "team", &json!({ "original_url": "https://example.com/" })).await
}

/// The rows of one dimension of the sums of a day.
async fn sums(kurz: &TestServer, day: i64, column: u8) -> Vec<(LinkId, String, u64, u64)> {
    let rows = kurz.open_store().await.list_day_sums(&team(), day..=day).await.unwrap();
    let Some(row) = rows.iter().find(|row| row.dimension == column) else { return Vec::new() };
    let sums = DaySums::decode(&row.data).unwrap();
    let row = |(link, value, clicks, visitors): (LinkId, &str, u64, u64)| {
        (link, value.to_owned(), clicks, visitors)
    };
    sums.rows().map(row).collect()
}

async fn a_day_becomes_sums_when_its_time_is_over_and_sums_go_after_theirs(kind: Kind) {
    let kurz = TestServer::builder()
        .database(kind)
        .settings(&[("KURZ_EVENTS_KEEP", "90d"), ("KURZ_SUMS_KEEP", "100d")])
        .start()
        .await;
    let store = kurz.open_store().await;
    let day = day_of(NOON);
    store_block(&store, "team", &batch(7, NOON, &["DE", "FR", "DE"])).await;
    store_block(&store, "team", &batch(8, NOON, &["DE"])).await;
    store_block(&store, "team", &batch(8, NOON.plus(DAY), &["AT"])).await;
    // The last moment at which an event of that day is not 90 days old.
    let midnight = Timestamp::from_ms((day + 1) * 86_400_000);
    kurz.clock.set(midnight.plus(DAY * 90).minus(Duration::from_millis(1)));
    maintain(&kurz).await;
    assert_eq!(StoredEvents::read(&store).await.total(), 5);
    assert_eq!(sums(&kurz, day, 12).await, []);
    kurz.clock.set(midnight.plus(DAY * 90));
    maintain(&kurz).await;
    let left = StoredEvents::read(&store).await;
    assert_eq!((left.total(), left.values(TextColumn::Country)), (1, vec!["AT".to_owned()]));
    let row =
        |link, value: &str, clicks, visitors| (LinkId(link), value.to_owned(), clicks, visitors);
    let expected = vec![
        row(0, "DE", 3, 2),
        row(0, "FR", 1, 1),
        row(7, "DE", 2, 2),
        row(7, "FR", 1, 1),
        row(8, "DE", 1, 1),
    ];
    assert_eq!(sums(&kurz, day, 12).await, expected);
    assert_eq!(sums(&kurz, day, 1).await[0], row(0, "person", 4, 3));
    maintain(&kurz).await;
    assert_eq!(sums(&kurz, day, 12).await, expected, "once is enough");
    // Events of that day which come late are added.
    store_block(&store, "team", &batch(9, NOON, &["DE"])).await;
    maintain(&kurz).await;
    assert_eq!(sums(&kurz, day, 12).await[0], row(WHOLE_WORKSPACE.0, "DE", 4, 3));
    kurz.clock.set(midnight.plus(DAY * 100).minus(Duration::from_millis(1)));
    maintain(&kurz).await;
    assert!(!sums(&kurz, day, 12).await.is_empty());
    kurz.clock.set(midnight.plus(DAY * 100));
    maintain(&kurz).await;
    assert!(sums(&kurz, day, 12).await.is_empty());
    assert!(!sums(&kurz, day + 1, 12).await.is_empty());
    kurz.stop().await;
}

async fn sums_of_purged_links_are_removed(kind: Kind) {
    let settings = [("KURZ_EVENTS_KEEP", "30d")];
    let kurz = TestServer::builder().database(kind).settings(&settings).start().await;
    let store = kurz.open_store().await;
    let made = [team_link(&kurz).await, {
        let other = json!({ "original_url": "https://example.com/other" });
        links::make(&kurz.http(), "team", &other).await
    }];
    let [one, two] = [&made[0], &made[1]].map(|link| link["id"].as_i64().unwrap());
    let late = NOON.plus(DAY * 20);
    for at in [NOON, late] {
        store_block(&store, "team", &batch(one, at, &["DE", "FR"])).await;
        store_block(&store, "team", &batch(two, at, &["DE"])).await;
    }
    kurz.clock.set(NOON.plus(DAY * 40));
    maintain(&kurz).await;
    let country = TextColumn::ALL.iter().position(|it| *it == TextColumn::Country).unwrap();
    let country = u8::try_from(country).unwrap();
    let of_links = async |at: Timestamp| {
        let mut links: Vec<i64> =
            sums(&kurz, day_of(at), country).await.into_iter().map(|(link, ..)| link.0).collect();
        links.dedup();
        links
    };
    assert_eq!(of_links(NOON).await, [WHOLE_WORKSPACE.0, one, two]);
    kurz.execute(&format!("update links set deleted_at = 1 where id = {one}")).await;
    kurz.clock.set(NOON.plus(DAY * 42));
    kurz.clean_up().await;
    let purged = "select count(*) from links where purged_at is not null";
    assert_eq!(kurz.home.number(purged).await, 1);
    // Once a day, and then those of days that are summed later.
    for (day, links) in [(42, vec![0, one, two]), (44, vec![0, two])] {
        kurz.clock.set(NOON.plus(DAY * day));
        maintain(&kurz).await;
        assert_eq!(of_links(NOON).await, links, "after {day} days");
    }
    kurz.clock.set(NOON.plus(DAY * 60));
    maintain(&kurz).await;
    assert_eq!(of_links(late).await, [0, two]);
    let whole = sums(&kurz, day_of(NOON), country).await;
    assert_eq!(whole[0], (WHOLE_WORKSPACE, "DE".to_owned(), 2, 1), "the workspace's stay");
    kurz.stop().await;
}

async fn a_workspace_may_keep_less_than_the_server(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let store = kurz.open_store().await;
    team_link(&kurz).await;
    store_block(&store, "team", &batch(7, NOON, &["DE"])).await;
    store_block(&store, "main", &batch(8, NOON, &["DE"])).await;
    let keep = WorkspacePrivacy { keep: Some(DAY * 7), ..WorkspacePrivacy::default() };
    kurz.app().change_privacy(&Caller::OPEN, &team(), &keep).await.unwrap();
    kurz.clock.set(NOON.plus(DAY * 9));
    maintain(&kurz).await;
    let left = StoredEvents::read(&store).await;
    let workspaces: Vec<_> = left.blocks.iter().map(|(workspace, ..)| workspace.as_str()).collect();
    assert_eq!(workspaces, ["main"]);
    assert_eq!(sums(&kurz, day_of(NOON), 12).await.len(), 2);
    kurz.stop().await;
}

async fn a_narrower_mode_removes_what_it_does_not_keep_within_the_hour(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let store = kurz.open_store().await;
    let link = team_link(&kurz).await;
    let id = link["id"].as_i64().unwrap();
    store_block(&store, "team", &batch(id, NOON, &["Wien", "Graz"])).await;
    let mode = |mode| WorkspacePrivacy { mode: Some(mode), ..WorkspacePrivacy::default() };
    let (app, caller) = (kurz.app(), &Caller::OPEN);
    app.change_privacy(caller, &team(), &mode(AnalyticsMode::Aggregate)).await.unwrap();
    kurz.advance(MINUTES);
    maintain(&kurz).await;
    let left = StoredEvents::read(&store).await;
    assert_eq!(left.total(), 2);
    assert_eq!(left.values(TextColumn::City), [UNKNOWN]);
    assert_eq!(left.values(TextColumn::BrowserVersion), [UNKNOWN]);
    assert_eq!(left.values(TextColumn::Country), ["Graz", "Wien"], "made up, and kept");
    assert!(left.batches().flat_map(|batch| &batch.times).all(|at| *at == NOON), "the hour");
    let columns =
        "select count(*) from event_blocks where column_number in (6, 8, 13, 14, 18, 19, 20)";
    assert_eq!(kurz.home.number(columns).await, 0);
    // A link may keep less than its workspace, not more.
    let code = links::code(&link);
    let wider = app.change_link_mode(caller, &team(), code, Some(AnalyticsMode::Events)).await;
    wider.unwrap();
    kurz.advance(MINUTES);
    maintain(&kurz).await;
    assert_eq!(StoredEvents::read(&store).await.values(TextColumn::City), [UNKNOWN]);
    app.change_privacy(caller, &team(), &mode(AnalyticsMode::Off)).await.unwrap();
    kurz.advance(MINUTES);
    maintain(&kurz).await;
    assert!(StoredEvents::read(&store).await.is_empty());
    let tasks = "select count(*) from event_tasks";
    assert_eq!(kurz.home.number(tasks).await, 0);
    kurz.stop().await;
    let kurz =
        TestServer::builder().database(kind).setting("KURZ_ANALYTICS", "aggregate").start().await;
    team_link(&kurz).await;
    let refused = kurz.app().change_privacy(caller, &team(), &mode(AnalyticsMode::Events)).await;
    assert!(format!("{:?}", refused.unwrap_err()).contains("mode-too-wide"));
    kurz.stop().await;
}

async fn details_are_removed_on_request_and_counts_stay(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let store = kurz.open_store().await;
    let link = team_link(&kurz).await;
    let id = link["id"].as_i64().unwrap();
    store_block(&store, "team", &batch(id, NOON, &["DE", "FR", "IT"])).await;
    store_block(&store, "team", &batch(id + 1, NOON, &["ES"])).await;
    store_block(&store, "team", &batch(id, NOON.plus(DAY), &["PT"])).await;
    let (app, caller) = (kurz.app(), &Caller::OPEN);
    let range = TimeRange { from: NOON, to: NOON.plus(Duration::from_mins(2)) };
    let backwards = TimeRange { from: range.to, to: range.from };
    app.delete_analytics(caller, &team(), None, backwards).await.unwrap_err();
    app.delete_analytics(caller, &team(), Some(links::code(&link)), range).await.unwrap();
    maintain(&kurz).await;
    assert_eq!(StoredEvents::read(&store).await.values(TextColumn::Country).len(), 5, "not yet");
    kurz.advance(MINUTES);
    maintain(&kurz).await;
    let left = StoredEvents::read(&store).await;
    assert_eq!(left.values(TextColumn::Country), [UNKNOWN, "ES", "IT", "PT"]);
    assert_eq!((left.total(), left.len()), (5, 4), "two clicks are one event of two");
    app.delete_analytics(caller, &team(), None, TimeRange { from: NOON, to: NOON.plus(DAY * 2) })
        .await
        .unwrap();
    kurz.advance(MINUTES);
    maintain(&kurz).await;
    let left = StoredEvents::read(&store).await;
    assert_eq!((left.total(), left.values(TextColumn::Country)), (5, vec![UNKNOWN.to_owned()]));
    assert!(left.batches().flat_map(|batch| &batch.visitors).all(|visitor| *visitor == 0));
    let audit = "select count(*) from audit where action = 'details-deleted'";
    assert_eq!(kurz.home.number(audit).await, 2);
    kurz.stop().await;
}

async fn a_workspace_sets_its_own_networks_apart(kind: Kind) {
    let kurz = TestServer::builder()
        .database(kind)
        .setting("KURZ_TRUSTED_PROXIES", "127.0.0.1")
        .start()
        .await;
    let link = team_link(&kurz).await;
    let exclude = Some(vec!["198.51.100.0/24".to_owned()]);
    let privacy = WorkspacePrivacy { exclude, ..WorkspacePrivacy::default() };
    kurz.app().change_privacy(&Caller::OPEN, &team(), &privacy).await.unwrap();
    for address in ["198.51.100.9", "203.0.113.9"] {
        kurz.at(address).get(&links::short_path(&link)).await.expect(302);
    }
    kurz.app().flush_all().await.unwrap();
    let stored = StoredEvents::read(&kurz.open_store().await).await;
    assert_eq!(stored.total(), 2);
    assert!(stored.values(TextColumn::Class).contains(&"excluded".to_owned()));
    assert_eq!(stored.values(TextColumn::Class).len(), 2);
    let bad = WorkspacePrivacy { exclude: Some(vec!["office".to_owned()]), ..privacy };
    kurz.app().change_privacy(&Caller::OPEN, &team(), &bad).await.unwrap_err();
    kurz.stop().await;
}

async fn in_mode_off_nothing_but_counts_is_written(kind: Kind) {
    let kurz = TestServer::builder().database(kind).setting("KURZ_ANALYTICS", "off").start().await;
    let link = team_link(&kurz).await;
    kurz.http().get(&links::short_path(&link)).await.expect(302);
    links::counted(&kurz.http(), &link, 1).await;
    kurz.app().flush_all().await.unwrap();
    assert_eq!(kurz.home.number("select count(*) from event_log").await, 0);
    assert_eq!(kurz.home.number("select count(*) from visitor_keys").await, 0);
    kurz.stop().await;
}

async fn in_mode_aggregate_cities_and_terms_are_never_written(kind: Kind) {
    let kurz =
        TestServer::builder().database(kind).setting("KURZ_ANALYTICS", "aggregate").start().await;
    let link = team_link(&kurz).await;
    let path = format!("{}?utm_source=mail&utm_term=secret-term", links::short_path(&link));
    kurz.clock.set(NOON.plus(Duration::from_mins(17)));
    kurz.http().get(&path).await.expect(302);
    kurz.app().flush_all().await.unwrap();
    let store = kurz.open_store().await;
    let stored = StoredEvents::read(&store).await;
    assert_eq!(stored.total(), 1);
    assert_eq!(stored.values(TextColumn::UtmTerm), [UNKNOWN]);
    assert_eq!(stored.logged[0].times, [NOON], "the hour");
    let rows = store.list_event_log().await.unwrap();
    assert!(!rows[0].data.windows(11).any(|bytes| bytes == b"secret-term"));
    // After two days there are sums.
    kurz.app().cut_own_events(true).await.unwrap();
    kurz.clock.set(NOON.plus(DAY * 2));
    maintain(&kurz).await;
    assert!(StoredEvents::read(&store).await.is_empty());
    assert_eq!(sums(&kurz, day_of(NOON), 1).await.len(), 2);
    kurz.stop().await;
}
