//! Claims under races: 64 claimers want the same links while some of these expire and cleanup purges
//! what is over. Each link has one owner at most, and no claimed link is ever touched.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kurz::store::{Claim, Error};
use kurz_core::account::UserId;
use kurz_core::code::Code;
use kurz_test_support::{Kind, on_both_databases};

use super::opened::OpenedStore;

const CLAIMERS: i64 = 64;
const LINKS: usize = 1_000;
/// Links in a call, as many as a call may have.
const PART: usize = 100;
/// How long every other link has left when the race begins.
const SHORT: Duration = Duration::from_millis(400);

on_both_databases! {
    of_64_claimers_each_link_has_one_owner_and_cleanup_takes_none_of_them,
    a_token_works_once_and_only_for_its_link,
}

fn code(at: usize) -> Code {
    Code::parse(&format!("link-{at}")).unwrap()
}

fn claim(at: usize) -> Claim {
    let mut hash = [7; 32];
    hash[..8].copy_from_slice(&at.to_be_bytes());
    Claim { code: code(at), hash }
}

/// Links that anybody with their token may have: the even ones for an hour, the odd ones for less.
async fn bench(kind: Kind, links: usize) -> OpenedStore {
    let bench = OpenedStore::new(kind).await;
    let mut sql = "insert into workspaces (id, strategy, created_at, updated_at)
        values ('main', 'random', 1, 1) on conflict do nothing;"
        .to_owned();
    for user in 1..=CLAIMERS {
        write!(
            sql,
            "insert into users (id, email, name, password_hash, token_version, created_at, updated_at)
             values ({user}, 'user{user}@example.com', '', '', 1, 1, 1);"
        )
        .unwrap();
    }
    for at in 0..links {
        let left = if at % 2 == 0 { Duration::from_hours(1) } else { SHORT };
        let end = bench.now().plus(left).as_ms();
        // The bytes of the hash, in words of either database.
        let (open, close) = if kind == Kind::Sqlite { ("x'", "'") } else { ("'\\x", "'") };
        let hash = format!("{open}{at:016x}{}{close}", "07".repeat(24));
        let code = code(at);
        write!(
            sql,
            "insert into links (id, workspace, code, strategy, target, canonical_hash,
                 redirect_status, created_at, updated_at, expires_at, version, claim_hash)
             values ({at}, 'main', '{code}', 'random', 'https://example.com/', {hash}, 302, 1, 1,
                 {end}, 1, {hash});"
        )
        .unwrap();
    }
    bench.home.execute(&format!("begin; {sql} commit")).await;
    bench
}

// threats: D8
async fn of_64_claimers_each_link_has_one_owner_and_cleanup_takes_none_of_them(kind: Kind) {
    let bench = Arc::new(bench(kind, LINKS).await);
    let runtime = tokio::runtime::Handle::current();
    let over = Arc::new(AtomicBool::new(false));
    let cleanup = {
        let (bench, over) = (Arc::clone(&bench), Arc::clone(&over));
        runtime.spawn(async move {
            let holding = bench.take("cleanup", Duration::from_mins(10)).await.unwrap();
            let mut purged = 0;
            // Once more after the race: by then everything that nobody claimed in time is over.
            loop {
                let last = over.load(Ordering::SeqCst);
                let (store, now) = (&bench.store, bench.now());
                store.mark_expired(&holding, 100, now).await.unwrap().unwrap();
                let gone = store.purge_dead(&holding, Duration::ZERO, 100, now).await.unwrap();
                let gone = gone.unwrap().len();
                purged += gone;
                if last && gone == 0 {
                    return purged;
                }
            }
        })
    };
    let claimers: Vec<_> = (1..=CLAIMERS)
        .map(|user| {
            let bench = Arc::clone(&bench);
            runtime.spawn(async move { claim_all(&bench, UserId(user)).await })
        })
        .collect();
    // In the middle of it the odd ones' time is over.
    bench.pass(SHORT).await;
    let mut owners: HashMap<i64, i64> = HashMap::new();
    for claimer in claimers {
        for (user, link) in claimer.await.unwrap() {
            let before = owners.insert(link, user);
            assert_eq!(before, None, "link {link} was given to two");
        }
    }
    over.store(true, Ordering::SeqCst);
    let purged = cleanup.await.unwrap();
    assert_eq!(owners.len() + purged, LINKS, "each link is somebody's, or it is over");
    assert!(owners.len() >= LINKS / 2, "those that live for an hour are all claimed");
    for (link, user) in owners {
        let kept = format!(
            "select count(*) from links where id = {link} and owner_id = {user}
                 and expires_at is null and expired_at is null and purged_at is null
                 and claim_hash is null and target <> ''"
        );
        assert_eq!(bench.home.number(&kept).await, 1, "link {link} of user {user}");
    }
}

/// Whether no connection was free.
fn is_busy(error: &Error) -> bool {
    matches!(error.kind(), Error::Unavailable(text) if text.contains("waiting for a slot"))
}

/// Claim everything, each claimer from another place on; who got what.
async fn claim_all(bench: &OpenedStore, user: UserId) -> Vec<(i64, i64)> {
    let mut got = Vec::new();
    let start = usize::try_from(user.0).unwrap() * 37;
    let all: Vec<Claim> = (0..LINKS).map(|at| claim((start + at) % LINKS)).collect();
    for part in all.chunks(PART) {
        let taken = loop {
            match bench.store.claim_links(user, part, bench.now(), &[]).await {
                // Nothing was sent yet: a client is told to try again, and does.
                Err(error) if is_busy(&error) => {}
                other => break other.unwrap(),
            }
        };
        assert_eq!(taken.len(), part.len());
        got.extend(taken.into_iter().flatten().map(|link| (user.0, link.0)));
    }
    got
}

async fn a_token_works_once_and_only_for_its_link(kind: Kind) {
    let bench = bench(kind, 4).await;
    let claim_as = |user, claims: Vec<Claim>| {
        let (store, now) = (&bench.store, bench.now());
        async move {
            let taken = store.claim_links(UserId(user), &claims, now, &[]).await.unwrap();
            taken.into_iter().map(|link| link.map(|link| link.0)).collect::<Vec<_>>()
        }
    };
    let wrong = Claim { code: code(2), hash: claim(0).hash };
    assert_eq!(claim_as(1, vec![wrong]).await, [None], "the token of another link");
    assert_eq!(claim_as(1, vec![claim(2), claim(0), claim(2)]).await, [Some(2), Some(0), None]);
    assert_eq!(claim_as(2, vec![claim(0)]).await, [None], "it was used");
    bench.pass(SHORT).await;
    assert_eq!(claim_as(2, vec![claim(1)]).await, [None], "its time is over");
}
