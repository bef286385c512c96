//! Of `src/ledger`, the quota of one instance.

#[path = "../../src/quota/local.rs"]
mod local;

pub use local::LocalQuota;

/// Where instances count together; here one counts alone.
#[derive(Debug)]
pub struct Reservation;

/// What the threads do.
pub(crate) mod races {
    use loom::thread;

    use super::LocalQuota;
    use crate::link::Month;
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU64, Ordering};

    const JUNE: Month = Month::from_number(24_000);
    const JULY: Month = Month::from_number(24_001);

    /// How many of these takes succeed, each on a thread of its own.
    fn taken(quota: &Arc<LocalQuota>, takes: &[(Month, u64)]) -> Vec<Option<Month>> {
        let take = |&(month, limit): &(Month, u64)| {
            let quota = Arc::clone(quota);
            thread::spawn(move || quota.take(month, limit))
        };
        let threads: Vec<_> = takes.iter().map(take).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    }

    pub(crate) fn exactly_the_limit() {
        loom::model(|| {
            let quota = Arc::new(LocalQuota::new(JUNE, 1));
            let taken = taken(&quota, &[(JUNE, 3), (JUNE, 3), (JUNE, 3)]);
            assert_eq!(taken.iter().flatten().count(), 2);
            assert_eq!(quota.used(), (JUNE, 3));
        });
    }

    pub(crate) fn a_new_month_begins_once() {
        loom::model(|| {
            let quota = Arc::new(LocalQuota::new(JUNE, 0));
            let taken = taken(&quota, &[(JUNE, 1), (JULY, 1), (JULY, 1)]);
            let of = |month| taken.iter().flatten().filter(|taken| **taken == month).count();
            // Whoever comes with the old month after the new one began counts in the new one.
            assert!(of(JUNE) <= 1 && of(JULY) == 1, "{taken:?}");
            assert_eq!(quota.used(), (JULY, 1));
        });
    }

    pub(crate) fn added_and_taken() {
        loom::model(|| {
            let quota = Arc::new(LocalQuota::new(JUNE, 0));
            let adding = Arc::clone(&quota);
            let adder = thread::spawn(move || adding.add(JUNE, 2));
            let taken = taken(&quota, &[(JUNE, 4)]).iter().flatten().count();
            adder.join().unwrap();
            assert_eq!(quota.used(), (JUNE, 2 + u64::try_from(taken).unwrap()));
        });
    }

    /// A quota that looks and then writes: two threads see the same room.
    pub(crate) fn take_in_two_steps() {
        loom::model(|| {
            let used = Arc::new(AtomicU64::new(0));
            let served = Arc::new(AtomicU64::new(0));
            let take = || {
                let (used, served) = (Arc::clone(&used), Arc::clone(&served));
                thread::spawn(move || {
                    let before = used.load(Ordering::Acquire);
                    if before < 1 {
                        used.store(before + 1, Ordering::Release);
                        served.fetch_add(1, Ordering::AcqRel);
                    }
                })
            };
            let threads = [take(), take()];
            for thread in threads {
                thread.join().unwrap();
            }
            assert!(served.load(Ordering::Acquire) <= 1, "more than the limit was served");
        });
    }
}
