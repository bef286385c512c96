//! The lock row, and what it fences: whoever lost it does nothing any more.

use std::collections::HashSet;
use std::time::Duration;

use kurz::store::HeldLock;
use kurz_core::lease::Lease;
use kurz_core::time::Timestamp;
use kurz_test_support::{Kind, on_both_databases};

use super::opened::OpenedStore;

const LONG: Duration = Duration::from_mins(14);
const SHORT: Duration = Duration::from_millis(150);

on_both_databases! {
    one_instance_holds_a_lock_at_a_time,
    a_lock_is_held_at_least_as_long_as_it_says,
    a_holder_that_lost_its_lock_does_nothing,
    of_many_that_take_a_lock_at_once_one_gets_it,
}

// threats: E12
async fn one_instance_holds_a_lock_at_a_time(kind: Kind) {
    let bench = OpenedStore::new(kind).await;
    let first = bench.take("one", LONG).await.unwrap();
    assert_eq!(bench.take("two", LONG).await, None);
    assert_eq!(bench.take("one", LONG).await, None, "not even twice by the same");
    let other = bench.store.take_lock("health", "two", LONG, bench.now()).await.unwrap();
    assert!(other.is_some(), "another lock is another's");
    assert!(bench.store.release_lock(&first, Duration::ZERO, bench.now()).await.unwrap());
    let second = bench.take("two", SHORT).await.unwrap();
    assert!(!bench.store.release_lock(&first, Duration::ZERO, bench.now()).await.unwrap());
    assert!(!bench.store.extend_lock(&first, LONG, bench.now()).await.unwrap());
    assert!(bench.store.extend_lock(&second, LONG, bench.now()).await.unwrap());
    bench.pass(SHORT * 2).await;
    assert_eq!(bench.take("one", LONG).await, None, "it was extended");
}

async fn a_lock_is_held_at_least_as_long_as_it_says(kind: Kind) {
    let bench = OpenedStore::new(kind).await;
    let first = bench.take("one", LONG).await.unwrap();
    let at_least = Duration::from_secs(1);
    assert!(bench.store.release_lock(&first, at_least, bench.now()).await.unwrap());
    assert_eq!(bench.take("two", LONG).await, None, "released, but not before its time");
    bench.pass(at_least).await;
    assert!(bench.take("two", LONG).await.is_some());
}

// threats: E12
async fn a_holder_that_lost_its_lock_does_nothing(kind: Kind) {
    let bench = OpenedStore::new(kind).await;
    bench.home.execute(&over("code", 1)).await;
    let marked = |holding: HeldLock| {
        let (store, now) = (&bench.store, bench.now());
        async move { store.mark_expired(&holding, 10, now).await.unwrap().map(|all| all.len()) }
    };
    let late = bench.take("late", SHORT).await.unwrap();
    bench.pass(SHORT * 2).await;
    assert_eq!(marked(late.clone()).await, None, "its time is over, though nobody took the lock");
    assert!(!bench.store.extend_lock(&late, LONG, bench.now()).await.unwrap());
    let next = bench.take("next", LONG).await.unwrap();
    assert_eq!(marked(late.clone()).await, None);
    let purged = bench.store.purge_dead(&late, Duration::ZERO, 10, bench.now()).await.unwrap();
    assert_eq!(purged, None);
    assert_eq!(bench.home.number("select count(*) from links where expired_at > 0").await, 0);
    assert_eq!(marked(next).await, Some(1));
}

// threats: E12
async fn of_many_that_take_a_lock_at_once_one_gets_it(kind: Kind) {
    let bench = std::sync::Arc::new(OpenedStore::new(kind).await);
    for round in 0..5 {
        let takers = (0..32).map(|number| {
            let bench = std::sync::Arc::clone(&bench);
            let name = format!("{round}-{number}");
            tokio::runtime::Handle::current().spawn(async move { bench.take(&name, LONG).await })
        });
        let takers: Vec<_> = takers.collect();
        let mut holdings = Vec::new();
        for taker in takers {
            holdings.extend(taker.await.unwrap());
        }
        assert_eq!(holdings.len(), 1);
        let released = bench.store.release_lock(&holdings[0], Duration::ZERO, bench.now()).await;
        assert!(released.unwrap());
    }
}

const TICKS: usize = 10_000;
const AT_LEAST: Duration = Duration::from_mins(10);
const AT_MOST: Duration = Duration::from_mins(14);

/// An instance in the simulation.
#[derive(Default)]
struct Simulated {
    holding: Option<HeldLock>,
    /// Ticks for which it stands still and notices nothing.
    stopped: u64,
}

/// Five instances on one store, one step of one of them a tick, in an order that chance decides. Some
/// stand still for longer than the lock lasts, some are killed.
// threats: E12
#[tokio::test]
async fn in_ten_thousand_ticks_no_two_hold_the_lock() {
    let bench = OpenedStore::new(Kind::Sqlite).await;
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let mut instances: Vec<Simulated> = (0..5).map(|_| Simulated::default()).collect();
    // Who took the lock last, when, and whether it was let go of.
    let mut last: Option<(usize, i64, bool)> = None;
    let mut takes = HashSet::new();
    let (mut works, mut losses) = (0, 0);
    for tick in 0..TICKS {
        bench.clock.advance(Duration::from_secs(chance.below(60)));
        let at = usize::try_from(chance.below(5)).unwrap();
        let instance = &mut instances[at];
        if instance.stopped > 0 {
            instance.stopped -= 1;
            continue;
        }
        match chance.below(20) {
            0 => instance.stopped = chance.below(40),
            1 => instance.holding = None,
            _ => {}
        }
        let now = bench.now();
        let Some(holding) = instance.holding.clone() else {
            instance.holding = bench.take(&format!("{at}-{tick}"), AT_MOST).await;
            let held = last.map(|(_, since, free)| (now.as_ms() - since, free));
            let enough = |(ms, free): (i64, bool)| {
                ms >= i64::try_from(if free { AT_LEAST } else { AT_MOST }.as_millis()).unwrap()
            };
            assert_eq!(
                instance.holding.is_some(),
                held.is_none_or(enough),
                "tick {tick}: {held:?}"
            );
            if instance.holding.is_some() {
                last = Some((at, now.as_ms(), false));
                takes.insert(tick);
            }
            continue;
        };
        if chance.below(3) == 0 {
            let released = bench.store.release_lock(&holding, AT_LEAST, now).await.unwrap();
            instance.holding = None;
            if released {
                last = last.map(|(who, since, _)| (who, since, true));
            }
            continue;
        }
        let worked = bench.store.mark_expired(&holding, 1, now).await.unwrap().is_some();
        let (who, since, _) = last.unwrap();
        let in_time = now.as_ms() - since < i64::try_from(AT_MOST.as_millis()).unwrap();
        assert_eq!(worked, who == at && in_time, "tick {tick}: only the last to take it works");
        (works, losses) = (works + u32::from(worked), losses + u32::from(!worked));
        if !worked {
            instance.holding = None;
        }
    }
    assert!(takes.len() > 100 && works > 100 && losses > 20, "{} {works} {losses}", takes.len());
}

/// Numbers in an order that is always the same (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A link of `main` whose time is over.
fn over(code: &str, id: u32) -> String {
    format!(
        "insert into workspaces (id, strategy, created_at, updated_at)
             values ('main', 'random', 1, 1) on conflict do nothing;
         insert into links (id, workspace, code, strategy, target, canonical_hash,
             redirect_status, created_at, updated_at, expires_at, version)
         values ({id}, 'main', '{code}', 'random', 'https://example.com/', '', 302, 1, 1, 2, 1)"
    )
}

/// The statements and the rules that a simulation runs (`store/lease.rs`), step by step. On SQLite, whose
/// clock is the test's to move: the statements are the same on PostgreSQL.
// threats: E12
#[tokio::test]
async fn the_statements_of_a_lock_do_what_its_rules_say() {
    let bench = OpenedStore::new(Kind::Sqlite).await;
    let mut lease = Lease::default();
    let mut held: Vec<(HeldLock, String, i64)> = Vec::new();
    let mut seed = 7_u64;
    let mut throw = |sides: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % sides
    };
    for round in 0..1500 {
        let minutes = i64::try_from(throw(9)).unwrap() - if throw(20) == 0 { 40 } else { 0 };
        let now = Timestamp::from_ms(bench.now().as_ms() + minutes * 60_000);
        bench.clock.set(now);
        let at_most = Duration::from_mins(throw(20));
        let at_most_ms = i64::try_from(at_most.as_millis()).unwrap();
        if throw(2) == 0 || held.is_empty() {
            let by = format!("i{}", throw(3));
            let ours = bench.take(&by, at_most).await;
            let at = lease.take(&by, at_most_ms, now.as_ms());
            assert_eq!(ours.is_some(), at.is_some(), "round {round}: take");
            held.extend(ours.zip(at).map(|(holding, at)| (holding, by, at)));
            continue;
        }
        let (holding, by, at) = &held[usize::try_from(throw(3)).unwrap().min(held.len() - 1)];
        let store = &bench.store;
        let (ours, rules) = match throw(3) {
            0 => (
                store.extend_lock(holding, at_most, now).await.unwrap(),
                lease.extend(by, *at, at_most_ms, now.as_ms()),
            ),
            1 => (
                store.release_lock(holding, at_most, now).await.unwrap(),
                lease.release(by, *at, at_most_ms, now.as_ms()),
            ),
            _ => (
                store.mark_expired(holding, 1, now).await.unwrap().is_some(),
                lease.fence(by, *at, now.as_ms()),
            ),
        };
        assert_eq!(ours, rules, "round {round}");
        held.reverse();
        held.truncate(6);
    }
}
