//! Of `src/cache`, the counters that workers and the click writer share.

#[path = "../../src/cache/counter_table.rs"]
mod counter_table;
#[path = "../../src/cache/link_counters.rs"]
mod link_counters;

pub use link_counters::LinkCounters;

pub(crate) mod races {
    use loom::thread;

    use super::LinkCounters;
    use super::counter_table::{CounterTable, HoldsCounters};
    use crate::clock::Timestamp;
    use crate::link::{ClickTotals, Hour, LinkId, Month};
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU64, Ordering};

    const LINK: LinkId = LinkId(1);
    const AT: Timestamp = Timestamp::from_ms(1_773_576_000_000);

    /// The counters by themselves.
    impl HoldsCounters for Arc<LinkCounters> {
        fn counters(&self) -> &LinkCounters {
            self
        }

        fn holders(&self) -> usize {
            Arc::strong_count(self)
        }
    }

    fn totals() -> ClickTotals {
        let hour = Hour::of(AT);
        ClickTotals { link: LINK, hour, others: 0, visits: 1, nanos: 1, last_at: AT }
    }

    /// A hit was counted in counters that nothing holds any more. The writer writes it and drops the
    /// counters while the link is loaded again. Whatever the order, the new counters include the hit.
    fn load_beside_the_writer(names_its_round: bool) {
        let month = Month::of(AT);
        let table = Arc::new(CounterTable::<Arc<LinkCounters>>::default());
        let store = Arc::new(AtomicU64::new(0));
        let load = |hits, round| {
            let first = || Arc::new(LinkCounters::new(LINK, month, hits, None));
            table.get(LINK, round, Arc::clone, first)
        };
        let first = load(0, table.round()).unwrap();
        assert!(first.quota().take(month, 9).is_some());
        drop(first);
        let writer = {
            let (table, store) = (Arc::clone(&table), Arc::clone(&store));
            thread::spawn(move || {
                store.fetch_add(1, Ordering::AcqRel);
                table.written(&[totals()]);
            })
        };
        let counters = loop {
            let round = table.round();
            let hits = i64::try_from(store.load(Ordering::Acquire)).unwrap();
            let round = if names_its_round { round } else { table.round() };
            if let Some(counters) = load(hits, round) {
                break counters;
            }
        };
        assert_eq!(counters.quota().used(), (month, 1), "the hit is forgotten");
        writer.join().unwrap();
    }

    pub(crate) fn counters_are_never_lost() {
        loom::model(|| load_beside_the_writer(true));
    }

    pub(crate) fn no_round() {
        loom::model(|| load_beside_the_writer(false));
    }
}
