//! Copies of whole stores between the two databases: equal to the last byte, whatever came between.

use std::path::Path;

use kurz::clock::Stopwatch;
use kurz::config::{Config, Overrides, StoreConfig};
use kurz::store::{
    EditOutcome, Host, HostUrls, Inserted, LinkEdit, LoggedEvents, NewAuditEntry, NewLink,
    Progress, Store, Subject, Workspace, WriteSeq,
};
use kurz_core::clicks::ClickTotals;
use kurz_core::clicks::planner::EncodedEvents;
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{ArchivedAt, Hour, LinkFields, LinkId, LinkOrigin, StoredPlan, Strategy};
use kurz_core::time::Timestamp;
use kurz_test_support::TestServer;
use kurz_test_support::postgres::{Database, connect};
use tempfile::TempDir;

const WORKSPACES: [&str; 4] = ["main", "acme", "Bulk_2", "zeta-9"];
const NOW: Timestamp = Timestamp::from_ms(1_780_000_000_000);

/// A place for a store: a database or a folder that ends with it.
enum Place {
    Sqlite(TempDir),
    Postgres(Database),
}

impl Place {
    fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    fn postgres() -> Self {
        Self::Postgres(Database::create())
    }

    fn url(&self) -> String {
        match self {
            Self::Sqlite(folder) => format!("sqlite://{}", folder.path().join("kurz.db").display()),
            Self::Postgres(database) => database.url().to_owned(),
        }
    }

    fn config(&self) -> StoreConfig {
        // As `kurz copy` does: a busy disk is no reason to give up.
        let env = [("KURZ_STORE", self.url()), ("KURZ_STATEMENT_TIMEOUT", "1h".to_owned())];
        let env = env.map(|(name, text)| (name.to_owned(), text));
        Config::load(&Overrides::default(), env, Path::new("/nowhere")).unwrap().store
    }

    async fn open(&self) -> Store {
        Store::open(&self.config()).await.unwrap()
    }
}

fn workspace(number: usize) -> WorkspaceId {
    WorkspaceId::parse(WORKSPACES[number % WORKSPACES.len()]).unwrap()
}

/// One of a hundred different looks.
fn link(id: i64) -> NewLink {
    let number = usize::try_from(id).unwrap();
    let tags: &[&str] = [&[][..], &["ads"], &["Größe", "ads"], &["q4", "ads", "2026"]][number % 4];
    let mut canonical_hash = [7; 32];
    canonical_hash[..8].copy_from_slice(&id.wrapping_mul(0x9e37_79b9).to_be_bytes());
    NewLink {
        id: LinkId(id),
        workspace: workspace(number / 5),
        // Scattered over the index, as real codes are.
        code: Code::parse(&format!("{:08x}", number.wrapping_mul(0x9e37_79b1) & 0xffff_ffff))
            .unwrap(),
        strategy: [Strategy::Deterministic, Strategy::Random, Strategy::Custom][number % 3],
        target: format!("https://example.com/{id}/{}?q=ü", "seite-".repeat(number % 9)),
        canonical_hash,
        fields: LinkFields {
            title: (number % 3 == 1).then(|| format!("Nº {id} – “größer”")),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            expires_at: (number % 10 == 3).then(|| Timestamp::from_ms(NOW.as_ms() + 3 * id)),
            hit_limit: (number % 7 == 0).then_some(id),
            redirect_status: [302, 301, 307, 308][number % 4],
            note: (number % 4 == 2).then(|| format!("Zeile 1 von {id}\nZeile 2")),
            archived_at: ArchivedAt(
                (number % 5 == 4).then(|| Timestamp::from_ms(NOW.as_ms() + id)),
            ),
        },
        created_at: Timestamp::from_ms(NOW.as_ms() + id),
        wants_main: number % 2 == 0,
        owner: None,
        claim_hash: None,
        made: LinkOrigin { key: None, client: Some("192.0.2.1".to_owned()) },
        revive: false,
        plan: (number % 5 == 2).then(|| StoredPlan {
            document: format!(r#"{{"click_limit":{id}}}"#),
            keys: vec![7; number % 3],
        }),
    }
}

fn hits(link: i64) -> ClickTotals {
    let clicks = link.unsigned_abs() % 50 + 1;
    ClickTotals {
        link: LinkId(link),
        hour: Hour::of(NOW),
        others: u32::try_from(link % 3).unwrap(),
        clicks,
        reserved: 0,
        nanos: clicks * 1_000_003 / (link.unsigned_abs() % 1000 + 3),
        last_at: Timestamp::from_ms(NOW.as_ms() + link),
    }
}

async fn follow(store: &Store, totals: &[ClickTotals]) {
    let writer = store.take_numbers("writer", 1).await.unwrap();
    store.register_writer(writer, NOW).await.unwrap();
    // A store that is copied has events in its log.
    let rows = [EncodedEvents { events: 1, data: vec![9; 50] }];
    let events = LoggedEvents { first: 1, rows: &rows };
    store.add_totals(WriteSeq { writer, number: 1 }, totals, events, NOW).await.unwrap();
}

/// Fill a store: workspaces, hosts, links, tags, redirects, deleted links.
async fn seed(store: &Store, links: i64) {
    for id in (0..WORKSPACES.len()).map(workspace) {
        let strategy = Strategy::Deterministic;
        let one = Workspace { id, strategy, hit_limit: None, created_at: NOW, updated_at: NOW };
        assert!(store.insert_workspace(&one).await.unwrap());
    }
    for (number, host) in
        ["go.acme.example", "a.example", "xn--bcher-kva.example"].iter().enumerate()
    {
        let host = Host {
            host: (*host).to_owned(),
            workspace: workspace(number + 1),
            created_at: NOW,
            urls: HostUrls::default(),
        };
        assert!(store.insert_host(&host).await.unwrap());
    }
    let first = store.take_numbers("link", links).await.unwrap();
    let ids: Vec<i64> = (first..first + links).collect();
    for ids in ids.chunks(10_000) {
        let batch: Vec<NewLink> = ids.iter().copied().map(link).collect();
        let links: Vec<&NewLink> = batch.iter().collect();
        let stored = store.insert_links(&links, true).await.unwrap();
        assert!(matches!(stored, Inserted::Stored(_)), "no two links want the same place");
        let followed: Vec<ClickTotals> =
            ids.iter().copied().filter(|id| id % 4 == 0).map(hits).collect();
        follow(store, &followed).await;
    }
    // All at once, so that one commit does for many.
    let deleted = ids.iter().filter(|id| *id % 100 == 1);
    let deleted = deleted.map(|id| async move {
        let at = Timestamp::from_ms(NOW.as_ms() + 1);
        store.delete_link(LinkId(*id), at, &note(1_000_000 + *id, "deleted", at)).await
    });
    let deleted = futures_util::future::try_join_all(deleted).await.unwrap();
    assert!(deleted.into_iter().all(|done| done));
}

async fn copy(from: &Store, to: &Store) -> Result<Vec<kurz::store::Checksum>, kurz::store::Error> {
    from.copy_to(to, &mut |_| {}).await
}

/// Start a copy and drop it after so many reports.
async fn interrupt(from: &Store, to: &Store, reports: usize) {
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let (mut stop, mut left) = (Some(stop), reports);
    let mut report = |_: Progress| {
        left = left.saturating_sub(1);
        if let Some(stop) = stop.take_if(|_| left == 0) {
            stop.send(()).unwrap();
        }
    };
    tokio::select! {
        biased;
        _ = stopped => {}
        done = from.copy_to(to, &mut report) => panic!("it came to its end: {done:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_links_go_from_sqlite_to_postgresql_and_back_with_equal_checksums() {
    let (first, middle, last) = (Place::sqlite(), Place::postgres(), Place::sqlite());
    let (from, between, to) = (first.open().await, middle.open().await, last.open().await);
    let since = Stopwatch::start();
    seed(&from, 100_000).await;
    let seeded = since.elapsed();

    let since = Stopwatch::start();
    let there = copy(&from, &between).await.unwrap();
    let went = since.elapsed();
    let since = Stopwatch::start();
    let back = copy(&between, &to).await.unwrap();
    let came = since.elapsed();
    println!("100,000 links: seeded in {seeded:?}, to PostgreSQL in {went:?}, back in {came:?}");

    assert_eq!(there, back);
    let rows = |name: &str| there.iter().find(|sum| sum.table == name).unwrap().rows;
    assert_eq!((rows("links"), rows("link_tags"), rows("link_stats")), (100_000, 150_000, 25_000));
    assert_eq!((rows("workspaces"), rows("hosts")), (4, 3));
    // The checksums of the stores as they are, not only those of the copy.
    assert_eq!(
        from.checksums(&mut |_| {}).await.unwrap(),
        to.checksums(&mut |_| {}).await.unwrap()
    );
    let (one, code) = (link(42_004), link(42_004).code);
    let found = to.find_link(&one.workspace, &code).await.unwrap();
    assert_eq!(found, from.find_link(&one.workspace, &code).await.unwrap());
    assert_eq!(found.unwrap().redirect_count, 5);
    // Numbers go on where they were: no id is given twice after a move.
    assert_eq!(to.next_number("link").await.unwrap(), 100_001);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_copy_cannot_be_served_and_goes_on_when_it_is_started_again() {
    let source = Place::sqlite();
    let from = source.open().await;
    seed(&from, 9_000).await;
    for target in [Place::postgres(), Place::sqlite()] {
        let to = target.open().await;
        // Workspaces, hosts, and the first two of three pages of links.
        interrupt(&from, &to, 4).await;
        assert!(to.has_unfinished_copy().await.unwrap());
        let count = to.count_links().await.unwrap();
        assert!((8_000..=9_000).contains(&count), "{count} links were copied");

        let serve = TestServer::builder().setting("KURZ_STORE", &target.url()).process().run("");
        let said = String::from_utf8(serve.stderr).unwrap();
        assert_eq!(serve.status.code(), Some(1), "{said}");
        assert!(said.contains("unfinished copy"), "{said}");

        // Meanwhile the source went on: what was copied before is out of date.
        change(&from, 17).await;
        follow(&from, &[hits(8), hits(9)]).await;
        let sums = copy(&from, &to).await.unwrap();
        assert_eq!(sums, from.checksums(&mut |_| {}).await.unwrap());
        assert!(!to.has_unfinished_copy().await.unwrap());
    }
}

/// Edit a link; every time to something else.
async fn change(store: &Store, id: i64) {
    let old = link(id);
    let found = store.find_link(&old.workspace, &old.code).await.unwrap().unwrap();
    let edit = LinkEdit {
        strategy: found.strategy,
        target: format!("{}&more", found.target),
        canonical_hash: found.canonical_hash,
        fields: LinkFields {
            title: Some("changed".to_owned()),
            tags: vec![format!("version-{}", found.version)],
            ..LinkFields::default()
        },
        plan: None,
        code: None,
    };
    let number = store.take_numbers("change", 1).await.unwrap();
    let note = note(number, "edited", NOW);
    let edited = store.edit_link(&found, &edit, NOW, &note).await.unwrap();
    assert_eq!(edited, EditOutcome::Done);
}

/// What is written down about a change.
fn note(id: i64, action: &'static str, at: Timestamp) -> NewAuditEntry {
    let detail = "{}".to_owned();
    let subject = Subject::link(LinkId(id % 1_000_000));
    NewAuditEntry { id, at, user: None, key: None, action, subject, detail, client: None }
}

#[tokio::test]
async fn a_target_that_is_in_use_is_refused_and_stays_as_it_is() {
    let source = Place::sqlite();
    let from = source.open().await;
    seed(&from, 10).await;
    for target in [Place::postgres(), Place::sqlite()] {
        let to = target.open().await;
        seed(&to, 20).await;
        let before = to.checksums(&mut |_| {}).await.unwrap();
        let refused = copy(&from, &to).await.unwrap_err().to_string();
        assert!(refused.contains("in use") && refused.contains("fresh store"), "{refused}");
        assert_eq!(to.checksums(&mut |_| {}).await.unwrap(), before);
        assert!(!to.has_unfinished_copy().await.unwrap());
    }
}

#[tokio::test]
async fn a_row_that_was_damaged_on_the_way_is_found_and_the_next_copy_repairs_it() {
    let (source, target) = (Place::sqlite(), Place::sqlite());
    let (from, to) = (source.open().await, target.open().await);
    seed(&from, 100).await;
    let Place::Sqlite(folder) = &target else { unreachable!("it was made as one") };
    let path = folder.path().join("kurz.db");
    let mut report = |progress: Progress| {
        if progress.doing == "copying" && progress.done == progress.total {
            let db = rusqlite::Connection::open(&path).unwrap();
            let sql =
                "update links set target = replace(target, 'example', 'exbmple') where id = 7";
            assert_eq!(db.execute(sql, []).unwrap(), 1);
        }
    };
    let refused = from.copy_to(&to, &mut report).await.unwrap_err().to_string();
    assert!(refused.contains("differ in `links`") && refused.contains("again"), "{refused}");
    assert!(to.has_unfinished_copy().await.unwrap(), "it is not good enough to be served");
    copy(&from, &to).await.unwrap();
    assert!(!to.has_unfinished_copy().await.unwrap());
}

#[tokio::test]
async fn the_checksums_of_postgresql_show_a_single_changed_row() {
    let (source, target) = (Place::sqlite(), Place::postgres());
    let (from, to) = (source.open().await, target.open().await);
    seed(&from, 100).await;
    let sums = copy(&from, &to).await.unwrap();
    let client = connect(&target.url()).await;
    let sql = "update link_stats set month_hits = month_hits + 1 where link_id = 8";
    assert_eq!(client.execute(sql, &[]).await.unwrap(), 1);
    let changed = to.checksums(&mut |_| {}).await.unwrap();
    let differ: Vec<_> = sums.iter().zip(&changed).filter(|(one, other)| one != other).collect();
    assert_eq!(differ.len(), 1);
    assert_eq!(differ[0].1.table, "link_stats");
}
