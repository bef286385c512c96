//! Members, workspaces and accounts changed at the same time, on two connections: no workspace without an
//! administrator, no link in a deleted workspace, no account over its limit.

use std::fmt::Write as _;
use std::time::Duration;

use futures_util::future::join_all;
use kurz::store::{
    AccountMark, ApiKey, Inserted, KeyInsert, MemberChange, NewAuditEntry, NewLink, Store, Subject,
};
use kurz_core::account::{KeyId, Role, Scope, Scopes, UserId};
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{LinkFields, LinkId, LinkOrigin, Strategy};
use kurz_core::time::Timestamp;
use kurz_test_support::postgres::connect;
use kurz_test_support::{Kind, TestServer, on_both_databases};

use super::opened::OpenedStore;

const NOW: Timestamp = Timestamp::from_ms(1_773_576_000_000);
const ADA: UserId = UserId(1);
const ROUNDS: i64 = 50;

on_both_databases! {
    two_administrators_cannot_remove_or_demote_each_other,
    an_account_is_not_deleted_while_the_other_administrator_leaves,
    no_link_is_made_in_a_workspace_that_is_deleted_meanwhile,
    of_many_keys_at_once_no_more_are_made_than_may_be,
}

/// Two stores on one database, as two instances have.
struct TwoStores {
    opened: OpenedStore,
    other: Store,
}

impl TwoStores {
    async fn new(kind: Kind) -> Self {
        let opened = OpenedStore::new(kind).await;
        let config = TestServer::builder().config(&opened.home);
        let other = Store::open(&config.store).await.unwrap();
        Self { opened, other }
    }

    fn one(&self) -> &Store {
        &self.opened.store
    }

    async fn number(&self, sql: &str) -> i64 {
        self.opened.home.number(sql).await
    }

    async fn add_user(&self, id: UserId) {
        let sql = format!(
            "insert into users (id, email, name, password_hash, token_version, created_at, updated_at)
             values ({id}, 'user{id}@example.com', '', '', 1, 1, 1)"
        );
        self.opened.home.execute(&sql).await;
    }

    async fn add_workspace(&self, workspace: &WorkspaceId, admins: &[UserId]) {
        let mut sql = format!(
            "insert into workspaces (id, strategy, created_at, updated_at)
             values ('{workspace}', 'random', 1, 1);"
        );
        for admin in admins {
            write!(sql, "insert into members values ('{workspace}', {admin}, 'admin', 1);")
                .unwrap();
        }
        self.opened.home.execute(&sql).await;
    }

    async fn note(&self) -> NewAuditEntry {
        let id = self.one().take_numbers("change", 1).await.unwrap();
        let (detail, subject) = ("{}".to_owned(), Subject::user(ADA));
        let (user, key, client) = (None, None, None);
        NewAuditEntry { id, at: NOW, user, key, action: "removed", subject, detail, client }
    }
}

fn workspace(round: i64) -> WorkspaceId {
    WorkspaceId::parse(&format!("w{round}")).unwrap()
}

fn link(id: i64, workspace: &WorkspaceId, owner: Option<UserId>, tags: &[&str]) -> NewLink {
    let mut canonical_hash = [0; 32];
    canonical_hash[..8].copy_from_slice(&id.to_be_bytes());
    NewLink {
        id: LinkId(id),
        workspace: workspace.clone(),
        code: Code::parse(&format!("code{id}")).unwrap(),
        strategy: Strategy::Random,
        target: "https://example.com/".to_owned(),
        canonical_hash,
        fields: LinkFields {
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..LinkFields::default()
        },
        created_at: NOW,
        wants_main: false,
        owner,
        claim_hash: None,
        made: LinkOrigin::default(),
        revive: false,
        plan: None,
    }
}

async fn two_administrators_cannot_remove_or_demote_each_other(kind: Kind) {
    let stores = TwoStores::new(kind).await;
    let bob = UserId(2);
    stores.add_user(ADA).await;
    stores.add_user(bob).await;
    for round in 0..ROUNDS {
        let place = workspace(round);
        stores.add_workspace(&place, &[ADA, bob]).await;
        let (first, second) = (stores.note().await, stores.note().await);
        let (one, other) = if round % 2 == 0 {
            tokio::join!(
                stores.one().delete_member(&place, bob, &first),
                stores.other.delete_member(&place, ADA, &second)
            )
        } else {
            tokio::join!(
                stores.one().set_role(&place, bob, Role::Member, &first),
                stores.other.set_role(&place, ADA, Role::Viewer, &second)
            )
        };
        let mut both = [one.unwrap(), other.unwrap()];
        both.sort_by_key(|change| *change != MemberChange::Done);
        assert_eq!(both, [MemberChange::Done, MemberChange::LastAdmin], "round {round}");
        let left =
            format!("select count(*) from members where workspace = '{place}' and role = 'admin'");
        assert_eq!(stores.number(&left).await, 1, "round {round}");
    }
}

async fn an_account_is_not_deleted_while_the_other_administrator_leaves(kind: Kind) {
    let stores = TwoStores::new(kind).await;
    stores.add_user(ADA).await;
    for round in 0..ROUNDS {
        let place = workspace(round);
        let bob = UserId(10 + round);
        stores.add_user(bob).await;
        stores.add_workspace(&place, &[ADA, bob]).await;
        if round % 3 == 2 {
            // Bob is made an administrator in the very moment.
            let demote = format!(
                "update members set role = 'member' where workspace = '{place}' and user_id = {bob}"
            );
            stores.opened.home.execute(&demote).await;
        }
        let (first, second, third) =
            (stores.note().await, stores.note().await, stores.note().await);
        let leave = async {
            if round % 3 == 2 {
                let changed = stores.other.set_role(&place, bob, Role::Admin, &third).await;
                changed.unwrap();
            }
            stores.other.delete_member(&place, ADA, &second).await
        };
        let (deleted, left) = tokio::join!(stores.one().mark_user_deleted(bob, NOW, &first), leave);
        let (deleted, left) = (deleted.unwrap(), left.unwrap());
        let both = deleted == AccountMark::Done && left == MemberChange::Done;
        assert!(!both, "round {round}: nobody administers the workspace");
        let neither = deleted != AccountMark::Done && left != MemberChange::Done;
        assert!(!neither, "round {round}: {deleted:?} {left:?}");
        let admins = format!(
            "select count(*) from members m join users u on u.id = m.user_id and u.deleted_at is null
             where m.workspace = '{place}' and m.role = 'admin'"
        );
        assert_eq!(stores.number(&admins).await, 1, "round {round}: {deleted:?} {left:?}");
    }
}

async fn no_link_is_made_in_a_workspace_that_is_deleted_meanwhile(kind: Kind) {
    let stores = TwoStores::new(kind).await;
    stores.add_user(ADA).await;
    let (mut made, mut deleted) = (0, 0);
    for round in 0..ROUNDS {
        let place = workspace(round);
        stores.add_workspace(&place, &[ADA]).await;
        // Alone, with tags, and several at once: three ways into the table.
        let tags: &[&str] = if round % 3 == 1 { &["a"] } else { &[] };
        let count = if round % 3 == 2 { 5 } else { 1 };
        let links: Vec<NewLink> =
            (0..count).map(|at| link(100 * round + at, &place, Some(ADA), tags)).collect();
        let links: Vec<&NewLink> = links.iter().collect();
        let note = stores.note().await;
        let (inserted, gone) = tokio::join!(
            stores.one().insert_links(&links, false),
            stores.other.delete_workspace(&place, NOW, &note)
        );
        let live = format!(
            "select count(*) from links l join workspaces w on w.id = l.workspace
             where l.workspace = '{place}' and w.deleted_at is not null and l.deleted_at is null"
        );
        assert_eq!(
            stores.number(&live).await,
            0,
            "round {round}: live links in a deleted workspace"
        );
        match (inserted.unwrap(), gone.unwrap()) {
            (Inserted::Gone, true) => deleted += 1,
            (Inserted::Stored(_), false) => made += 1,
            other => panic!("round {round}: {other:?}"),
        }
    }
    assert_eq!(made + deleted, ROUNDS);
}

async fn of_many_keys_at_once_no_more_are_made_than_may_be(kind: Kind) {
    const MOST: i64 = 7;
    let stores = TwoStores::new(kind).await;
    stores.add_user(ADA).await;
    let tries = (0..32u8).map(|number| {
        let stores = &stores;
        async move {
            let key = ApiKey {
                id: KeyId(i64::from(number)),
                user: ADA,
                name: String::new(),
                prefix: String::new(),
                scopes: Scopes::from_iter([Scope::Read]),
                workspace: None,
                created_at: NOW,
                expires_at: None,
                last_used_at: None,
                revoked_at: None,
            };
            let note = stores.note().await;
            let store = if number % 2 == 0 { stores.one() } else { &stores.other };
            store.insert_key(&key, &[number; 32], MOST, &note).await.unwrap()
        }
    });
    let made = join_all(tries).await;
    let done = made.iter().filter(|one| **one == KeyInsert::Done).count();
    assert_eq!(i64::try_from(done).unwrap(), MOST);
    assert_eq!(made.iter().filter(|one| **one == KeyInsert::TooMany).count(), 25);
    assert_eq!(stores.number("select count(*) from api_keys").await, MOST);
}

/// Wait until the store waits for a lock of the other connection, which is not committed yet.
async fn until_somebody_waits(sql: &tokio_postgres::Client) {
    let waiting = "select count(*) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'";
    while sql.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What the rounds above try by chance, in one order for certain: the other connection was first, and has
/// not committed yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgresql_the_second_waits_for_the_first_and_sees_what_it_did() {
    let stores = TwoStores::new(Kind::Postgres).await;
    let bob = UserId(2);
    stores.add_user(ADA).await;
    stores.add_user(bob).await;
    let place = workspace(0);
    stores.add_workspace(&place, &[ADA, bob]).await;
    let url = stores.opened.home.store();
    let (first, watch) = (connect(&url).await, connect(&url).await);

    // Ada was removed: Bob cannot be.
    first
        .batch_execute(
            "begin; update workspaces set updated_at = updated_at where id = 'w0';
             delete from members where workspace = 'w0' and user_id = 1",
        )
        .await
        .unwrap();
    let note = stores.note().await;
    let second = stores.one().delete_member(&place, bob, &note);
    let commit = async {
        until_somebody_waits(&watch).await;
        first.batch_execute("commit").await.unwrap();
    };
    let (removed, ()) = tokio::join!(second, commit);
    assert_eq!(removed.unwrap(), MemberChange::LastAdmin);

    // The account was marked, then the workspace was deleted: no link is made.
    let marks = [
        ("update users set deleted_at = 5 where id = 2", "update users set deleted_at = null"),
        ("update workspaces set deleted_at = 5 where id = 'w0'", "select 1"),
    ];
    let mut id = 0;
    for (mark, undo) in marks {
        for tags in [&[][..], &["a"]] {
            first.batch_execute(&format!("begin; {mark}")).await.unwrap();
            id += 1;
            let new = link(id, &place, Some(bob), tags);
            let links = [&new];
            let second = stores.one().insert_links(&links, false);
            let commit = async {
                until_somebody_waits(&watch).await;
                first.batch_execute("commit").await.unwrap();
            };
            let (inserted, ()) = tokio::join!(second, commit);
            assert_eq!(inserted.unwrap(), Inserted::Gone, "{mark}, tags {tags:?}");
            first.batch_execute(undo).await.unwrap();
            if undo == "select 1" {
                let back = "update workspaces set deleted_at = null where id = 'w0'";
                first.batch_execute(back).await.unwrap();
            }
        }
    }
    assert_eq!(stores.number("select count(*) from links").await, 0);

    // A link that is being made is seen by the deletion of its workspace.
    first
        .batch_execute(
            "begin; select id from live_workspaces where id = 'w0';
             insert into links (id, workspace, code, strategy, target, canonical_hash, redirect_status,
                 created_at, updated_at, version)
             values (77, 'w0', 'promo', 'custom', 'https://example.com/', '', 302, 1, 1, 1)",
        )
        .await
        .unwrap();
    let note = stores.note().await;
    let second = stores.one().delete_workspace(&place, NOW, &note);
    let commit = async {
        until_somebody_waits(&watch).await;
        first.batch_execute("commit").await.unwrap();
    };
    let (deleted, ()) = tokio::join!(second, commit);
    assert!(!deleted.unwrap(), "the workspace has a link");
}
