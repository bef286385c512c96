//! Lists of links against a plain model of them, in every order and with every filter, along both ways that
//! a page is read; and the plans of their statements.

use std::time::Duration;

use tokio_postgres::NoTls;

use crate::config::{Config, Overrides};
use crate::store::driver::{Sql, Step};
use crate::store::list::{Archived, ListQuery, ListSteps};
use crate::store::list_statements::{COUNT, NEVER, STATEMENTS};
use crate::store::value::SqlValue;
use crate::store::{ListScope, Position, Sort, SortKey, Store, migrate, search_index, tests};
use kurz_core::account::UserId;
use kurz_core::code::WorkspaceId;
use kurz_core::link::{Link, Status, Strategy};
use kurz_core::time::Timestamp;

const NONE: [i64; 0] = [];

const NOW: Timestamp = Timestamp::from_ms(1_000_000);

const WORKSPACE: Sql = Sql::constant(
    "WORKSPACE",
    "insert into workspaces (id, strategy, created_at, updated_at) values ($1, 'random', 1, 1)
        on conflict do nothing",
);
const LINK: Sql = Sql::constant(
    "LINK",
    "insert into links (id, workspace, code, strategy, target, canonical_hash, title, redirect_status,
        created_at, updated_at, version, owner_id, expires_at, expired_at, deleted_at, disabled_at,
        note, archived_at)
        values ($1, $2, $3, $4, $5, $6, $7, 302, $8, $9, 1, $10, $11, $12, $13, $14, $15, $16)",
);
const TAG: Sql =
    Sql::constant("TAG", "insert into link_tags (workspace, tag, link_id) values ($1, $2, $3)");
const CLICKS: Sql = Sql::constant(
    "CLICKS",
    "insert into link_stats (link_id, redirect_count, avg_redirect_ms, last_redirect_at, month,
        month_hits, list_scope)
        values ($1, $2, 0.1, 1, 1, 1, (select list_scope from links where id = $1))",
);
const EDIT: Sql = Sql::constant("EDIT", "update links set title = $1, target = $2 where id = $3");
const CLAIM: Sql = Sql::constant("CLAIM", "update links set owner_id = $1 where id = $2");
const PURGE: Sql = Sql::constant(
    "PURGE",
    "update links set purged_at = 1, title = null, target = '' where id = $1",
);
const REMOVE: Sql = Sql::constant("REMOVE", "delete from links where id = $1");

/// A link, as the model knows it.
#[derive(Clone, Debug)]
struct ModelLink {
    id: i64,
    scope: ListScope,
    code: String,
    title: Option<String>,
    note: Option<String>,
    is_archived: bool,
    target: String,
    strategy: Strategy,
    status: Status,
    tags: Vec<&'static str>,
    created: i64,
    changed: i64,
    clicks: i64,
}

fn scopes() -> [ListScope; 4] {
    let team = |name| ListScope::Workspace(WorkspaceId::parse(name).unwrap());
    [ListScope::Own(UserId(1)), ListScope::Own(UserId(2)), team("team"), team("main-team")]
}

/// Links whose orders and filters have little to do with each other.
fn model() -> Vec<ModelLink> {
    let link = |id: i64| {
        let mixed = (id * 7919) % 1009;
        let pick = |from: i64, of: i64| (mixed / from) % of;
        let title = match pick(3, 5) {
            0 => Some(format!("Grün {id} 100% ÄÖÜ")),
            1 => Some("a_b \\ \"quoted\" 'text'".to_owned()),
            2 => Some("日本語のタイトル".to_owned()),
            _ => None,
        };
        ModelLink {
            id,
            scope: scopes()
                [usize::try_from(if id % 10 == 0 { 1 + pick(2, 3) } else { 0 }).unwrap()]
            .clone(),
            code: format!("{:x}Code{id}", mixed * 31),
            title,
            note: (pick(4, 6) == 0).then(|| format!("Zwei\nZeilen über {id}; 100% geheim")),
            is_archived: pick(6, 5) == 0,
            target: format!("https://Host{}.example/page/{mixed}?x=%41", pick(1, 7)),
            strategy: if pick(5, 11) == 0 { Strategy::Custom } else { Strategy::Random },
            status: match pick(7, 9) {
                0 => Status::Deleted,
                1 => Status::Disabled,
                2 => Status::Expired,
                _ => Status::Active,
            },
            tags: match pick(11, 6) {
                0 => vec!["red"],
                1 => vec!["red", "blue"],
                _ => vec![],
            },
            // Equal ones among them: the number decides.
            created: 1000 + mixed / 3,
            changed: 1000 + pick(2, 40),
            clicks: if pick(13, 3) == 0 { 1 + pick(1, 9) } else { 0 },
        }
    };
    (1..=300).map(link).collect()
}

fn steps_of(link: &ModelLink) -> Vec<Step> {
    let (workspace, owner) = match &link.scope {
        ListScope::Workspace(workspace) => (workspace.as_str(), None),
        ListScope::Own(owner) => ("main", Some(owner.0)),
        ListScope::Main => ("main", None),
    };
    let when = |status| (link.status == status).then_some(5_i64);
    let id = SqlValue::Int(link.id);
    let values = [
        id.clone(),
        SqlValue::text(workspace),
        SqlValue::text(&link.code),
        SqlValue::text(link.strategy.as_str()),
        SqlValue::text(&link.target),
        SqlValue::blob(&[0; 32]),
        link.title.as_deref().into(),
        SqlValue::Int(link.created),
        SqlValue::Int(link.changed),
        owner.into(),
        when(Status::Expired).into(),
        // Half of the expired are marked.
        when(Status::Expired).filter(|_| link.id % 2 == 0).into(),
        when(Status::Deleted).into(),
        when(Status::Disabled).into(),
        link.note.as_deref().into(),
        link.is_archived.then_some(7_i64).into(),
    ];
    let mut steps =
        vec![Step::new(WORKSPACE, [SqlValue::text(workspace)]), Step::new(LINK, values)];
    for tag in &link.tags {
        let values = [SqlValue::text(workspace), SqlValue::text(tag), id.clone()];
        steps.push(Step::new(TAG, values));
    }
    if link.clicks > 0 {
        steps.push(Step::new(CLICKS, [id, SqlValue::Int(link.clicks)]));
    }
    steps
}

async fn open(url: &str) -> Store {
    let env = [("KURZ_STORE".to_owned(), url.to_owned())];
    let nowhere = tempfile::tempdir().unwrap();
    let config = Config::load(&Overrides::default(), env, nowhere.path()).unwrap();
    Store::open(&config.store).await.unwrap()
}

/// A fresh SQLite store and a fresh PostgreSQL store.
async fn stores(folder: &tempfile::TempDir, name: &str) -> [Store; 2] {
    let text = tests::postgres_url();
    let (client, connection) = tokio_postgres::connect(&text, NoTls).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "ends with the client")]
    tokio::spawn(connection);
    let name = format!("{name}_{}", std::process::id());
    client.batch_execute(&format!("create database {name} template template0")).await.unwrap();
    let mut url: url::Url = text.parse().unwrap();
    url.set_path(&name);
    let file = format!("sqlite://{}", folder.path().join("kurz.db").display());
    [open(&file).await, open(url.as_str()).await]
}

fn holds(link: &ModelLink, search: &str) -> bool {
    let search = search.to_ascii_lowercase();
    [Some(&link.code), link.title.as_ref(), Some(&link.target), link.note.as_ref()]
        .into_iter()
        .flatten()
        .any(|text| text.to_ascii_lowercase().contains(&search))
}

/// The numbers of the links that a list has, by the model.
fn expected(links: &[ModelLink], query: &ListQuery) -> Vec<i64> {
    let is_in = |link: &&ModelLink| {
        let in_scope = match &query.scope {
            ListScope::Main => matches!(link.scope, ListScope::Own(_) | ListScope::Main),
            scope => link.scope == *scope,
        };
        in_scope
            && query.status.map_or(link.status != Status::Deleted, |status| link.status == status)
            && match query.archived {
                Archived::Without => !link.is_archived || link.status == Status::Deleted,
                Archived::With => true,
                Archived::Only => link.is_archived,
            }
            && query.strategy.is_none_or(|strategy| link.strategy == strategy)
            && query.tag.as_deref().is_none_or(|tag| link.tags.contains(&tag))
            && query.search.as_deref().is_none_or(|search| holds(link, search))
    };
    let mut found: Vec<&ModelLink> = links.iter().filter(is_in).collect();
    found.sort_by(|a, b| {
        let clicks = |link: &ModelLink| match link.clicks {
            0 => link.created - NEVER,
            clicks => clicks,
        };
        let order = match query.sort.key {
            SortKey::Created => a.created.cmp(&b.created),
            SortKey::Updated => a.changed.cmp(&b.changed),
            SortKey::Redirects => clicks(a).cmp(&clicks(b)),
            SortKey::Code => a.code.cmp(&b.code),
        };
        let order = order.then(a.id.cmp(&b.id));
        if query.sort.descending { order.reverse() } else { order }
    });
    found.into_iter().map(|link| link.id).collect()
}

/// All pages of a list, as one that goes on while there is a place to go on from sees them.
async fn read_all(store: &Store, query: &ListQuery, steps: &ListSteps) -> Vec<i64> {
    let mut query = query.clone();
    let mut all = Vec::new();
    for _ in 0..1000 {
        let page = store.list_in_steps(&query, NOW, steps).await.unwrap();
        let is_full = i64::try_from(page.links.len()).unwrap() == query.most;
        all.extend(page.links.iter().map(|link| link.id.0));
        let last: Option<Position> = page.links.last().map(|link: &Link| query.position(link));
        query.after = match (page.rest, last) {
            (Some(rest), _) => Some(rest),
            (None, Some(last)) if is_full => Some(last),
            _ => return all,
        };
    }
    panic!("a list without an end: {query:?}");
}

fn sorts() -> impl Iterator<Item = Sort> {
    [SortKey::Created, SortKey::Updated, SortKey::Redirects, SortKey::Code]
        .into_iter()
        .flat_map(|key| [true, false].map(|descending| Sort { key, descending }))
}

fn filters(scope: &ListScope, sort: Sort) -> Vec<ListQuery> {
    let plain = ListQuery {
        scope: scope.clone(),
        status: None,
        strategy: None,
        tag: None,
        archived: Archived::With,
        search: None,
        sort,
        after: None,
        most: 35,
    };
    let statuses = [Status::Active, Status::Deleted, Status::Disabled, Status::Expired];
    let mut all: Vec<ListQuery> =
        statuses.map(|status| ListQuery { status: Some(status), ..plain.clone() }).into();
    all.push(ListQuery { strategy: Some(Strategy::Custom), ..plain.clone() });
    for archived in [Archived::Without, Archived::Only] {
        all.push(ListQuery { archived, ..plain.clone() });
        all.push(ListQuery { archived, status: Some(Status::Deleted), ..plain.clone() });
        all.push(ListQuery { archived, search: Some("grün".to_owned()), ..plain.clone() });
    }
    for tag in ["red", "blue", "none"] {
        all.push(ListQuery { tag: Some(tag.to_owned()), ..plain.clone() });
    }
    // Rare and common, short and long, with letters that patterns and queries give a meaning to.
    for text in [
        "7",
        "zz",
        "Ä",
        "%",
        "_",
        "hOST3",
        "0%",
        "100%",
        "a_b",
        "\\",
        " \\ ",
        "\"quoted\"",
        "'text'",
        "ÄÖÜ",
        "äöü",
        "Grün 1",
        "日本語",
        "本",
        "page/1",
        "https://host1.example/page/",
        "code29",
        "nowhere",
        "über 1",
        "GEHEIM",
        "zwei\nzei",
        " AND ",
        "\n",
        "x=%41",
    ] {
        all.push(ListQuery { search: Some(text.to_owned()), ..plain.clone() });
    }
    all.push(ListQuery {
        status: Some(Status::Expired),
        tag: Some("red".to_owned()),
        search: Some("host".to_owned()),
        ..plain.clone()
    });
    all.push(plain);
    all
}

#[tokio::test]
async fn pages_hold_every_link_once_in_every_order_with_every_filter() {
    let folder = tempfile::tempdir().unwrap();
    let links = model();
    let walk = ListSteps { first: 40, next: 60, gathered: -1, walk: Duration::ZERO };
    let gather = ListSteps { first: 1, next: 7, gathered: 3000, walk: Duration::ZERO };
    for store in stores(&folder, "lists").await {
        for part in links.chunks(50) {
            store.db.batch(part.iter().flat_map(steps_of).collect()).await.unwrap();
        }
        for scope in [ListScope::Main].into_iter().chain(scopes()) {
            // Each filter in two orders, and each order with some filter.
            let queries = sorts().flat_map(|sort| filters(&scope, sort)).enumerate();
            for (_, query) in queries.filter(|(at, _)| at % 4 == 0) {
                let expected = expected(&links, &query);
                for (way, steps) in [("walk", &walk), ("gather", &gather)] {
                    let read = read_all(&store, &query, steps).await;
                    assert_eq!(read, expected, "{way} on {}: {query:?}", store.kind());
                }
            }
        }
    }
}

/// What the index finds, without a walk before it, after each kind of change.
#[tokio::test]
async fn the_search_index_follows_every_change() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder, "search_index").await {
        let mut links = model();
        links.truncate(40);
        for link in &mut links {
            link.scope = ListScope::Own(UserId(1));
            link.status = Status::Active;
        }
        store.db.batch(links.iter().flat_map(steps_of).collect()).await.unwrap();
        let find = async |owner: i64, text: &str| {
            let sort = Sort { key: SortKey::Created, descending: false };
            let query = filters(&ListScope::Own(UserId(owner)), sort).pop().unwrap();
            let query = ListQuery { search: Some(text.to_owned()), ..query };
            let steps = ListSteps { first: 1, next: 1, gathered: 3000, walk: Duration::ZERO };
            read_all(&store, &query, &steps).await
        };
        let (id, new) = (SqlValue::Int(7), SqlValue::text("https://zebra.example/"));
        assert_eq!(find(1, "zebra").await, NONE);
        store.db.write(Step::new(EDIT, [SqlValue::Null, new, id.clone()])).await.unwrap();
        assert_eq!(find(1, "zebra").await, [7], "{}", store.kind());
        let title =
            [SqlValue::text("A striped horse"), SqlValue::text("https://a.example/"), id.clone()];
        store.db.write(Step::new(EDIT, title)).await.unwrap();
        assert_eq!(find(1, "zebra").await, NONE);
        assert_eq!(find(1, "STRIPED H").await, [7]);
        store.db.write(Step::new(CLAIM, [SqlValue::Int(2), id.clone()])).await.unwrap();
        assert_eq!(find(1, "striped").await, NONE);
        // One more link, or the list would be read whole before the index.
        let more = ModelLink {
            id: 900,
            scope: ListScope::Own(UserId(2)),
            code: "more1".to_owned(),
            ..links[0].clone()
        };
        let most = ModelLink { id: 901, code: "more2".to_owned(), ..more.clone() };
        store.db.batch([more, most].iter().flat_map(steps_of).collect()).await.unwrap();
        assert_eq!(find(2, "striped").await, [7]);
        let undone = vec![
            Step::new(
                EDIT,
                [SqlValue::Null, SqlValue::text("https://undone.example/"), id.clone()],
            ),
            Step::new(PURGE, [SqlValue::Int(-1)]).or_undo(),
        ];
        store.db.batch(undone).await.unwrap();
        assert_eq!(find(2, "undone").await, NONE);
        assert_eq!(find(2, "striped").await, [7]);
        store.db.write(Step::new(PURGE, [id])).await.unwrap();
        assert_eq!(find(2, "striped").await, NONE);
        assert_eq!(find(2, "more").await, [900, 901]);
        let untag = Sql::constant("UNTAG", "delete from link_tags where link_id = 900");
        let gone = vec![Step::new(untag, []), Step::new(REMOVE, [SqlValue::Int(900)])];
        store.db.batch(gone).await.unwrap();
        assert_eq!(find(2, "more").await, [901]);
    }
}

/// A link as the migrations before the index left it.
const OLD_LINK: &str = "
    insert into workspaces (id, strategy, created_at, updated_at) values ('main', 'random', 1, 1);
    insert into links (id, workspace, code, strategy, target, canonical_hash, redirect_status, created_at,
            updated_at, version, owner_id, title)
        values (5, 'main', 'abc', 'random', 'https://zebra.example/', '', 302, 1, 1, 1, 7, 'Grün');
    insert into links (id, workspace, code, strategy, target, canonical_hash, redirect_status, created_at,
            updated_at, version, owner_id, purged_at)
        values (6, 'main', 'zebra', 'random', '', '', 302, 1, 1, 1, 7, 1)";

#[tokio::test]
async fn the_migration_indexes_the_links_that_are_there() {
    let (before, after) = migrate::split_before("0009_search");
    let sqlite = rusqlite::Connection::open_in_memory().unwrap();
    search_index::add_search_function(&sqlite).unwrap();
    let rest = migrate::steps_after("0009_search");
    sqlite.execute_batch(&format!("{};{OLD_LINK};{};{}", before.0, after.0, rest.0)).unwrap();
    let count = |text: &str| -> i64 {
        let query = search_index::sqlite_query(Some("main/7"), text).unwrap();
        let params = rusqlite::params!["search", query, "main", "main/7", "main/7", 1];
        sqlite.query_row(COUNT.sqlite_text(), params, |row| row.get(0)).unwrap()
    };
    assert_eq!([count("ZEBRA"), count("grün"), count("zebras")], [1, 1, 0]);

    let postgres = tests::connect_postgres().await;
    let steps = format!("{};{OLD_LINK};{};{}", before.1, after.1, rest.1);
    postgres.batch_execute(&steps).await.unwrap();
    postgres.batch_execute("set enable_seqscan = off").await.unwrap();
    for (text, expected) in [("ZEBRA", 1_i64), ("grün", 1), ("zebras", 0)] {
        let query = search_index::postgres_query(Some("main/7"), text).unwrap();
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
            [&"search", &query, &"main", &"main/7", &"main/7", &1_i64];
        let row = postgres.query_one(COUNT.postgres_text(), &params).await.unwrap();
        assert_eq!(row.get::<_, i64>(0), expected, "{text}");
    }
}

/// Whether a statement may sort: only one that gathers a bounded number of links first.
fn may_sort(sql: Sql) -> bool {
    sql.name().contains("::GATHERED_")
}

#[test]
fn no_list_statement_scans_or_sorts_a_table_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let db = tests::fresh_sqlite(&folder);
    for sql in STATEMENTS {
        let mut plan = db.prepare(&format!("explain query plan {}", sql.sqlite_text())).unwrap();
        let mut rows = plan.raw_query();
        while let Some(row) = rows.next().unwrap() {
            let step: String = row.get(3).unwrap();
            let scans = step.starts_with("SCAN")
                && !step.contains("VIRTUAL TABLE INDEX")
                && step != "SCAN c"
                && !step.contains("CONSTANT ROW");
            // The tags and aliases of one link.
            let is_small = step.contains("string_agg");
            let sorts = step.contains("TEMP B-TREE") && !is_small && !may_sort(*sql);
            assert!(!scans && !sorts, "{}: {step}", sql.name());
        }
    }
}

#[tokio::test]
async fn no_list_statement_scans_or_sorts_a_table_on_postgres() {
    let db = tests::fresh_postgres().await;
    // Nothing but an index is left to choose from, where there is one.
    db.batch_execute(
        "set enable_seqscan = off; set enable_sort = off; set enable_incremental_sort = on;
        set plan_cache_mode = force_generic_plan",
    )
    .await
    .unwrap();
    for (at, sql) in STATEMENTS.iter().enumerate() {
        let count = db.prepare(sql.postgres_text()).await.unwrap().params().len();
        db.batch_execute(&format!("prepare plan_{at} as {}", sql.postgres_text())).await.unwrap();
        let nulls = vec!["null"; count].join(", ");
        let rows = db.query(&format!("explain execute plan_{at} ({nulls})"), &[]).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        for step in &plan {
            let step = step.trim_start_matches([' ', '-', '>']);
            let scans = step.starts_with("Seq Scan");
            let sorts = step.starts_with("Sort  (cost") && !may_sort(*sql);
            assert!(!scans && !sorts, "{}: {plan:#?}", sql.name());
        }
    }
}
