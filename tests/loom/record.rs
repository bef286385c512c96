//! Of `src/record`, what workers and the writer share.

#[path = "../../src/record/cell.rs"]
mod cell;
#[path = "../../src/record/cells.rs"]
mod cells;
#[path = "../../src/record/click.rs"]
mod click;
#[path = "../../src/record/lane.rs"]
mod lane;

pub use cell::Cell;
pub use click::{Click, Visitor};

/// What the threads do.
pub(crate) mod races {
    use loom::thread;

    use super::Cell;
    use super::cells::{Cells, Counted};
    use super::lane::Lane;
    use super::{Click, Visitor};
    use crate::clock::Timestamp;
    use crate::link::{Hour, LinkId, Month, Tally};
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU64, Ordering};

    const LINK: LinkId = LinkId(1);
    const AT: Timestamp = Timestamp::from_ms(1_773_576_000_000);

    fn click(nanos: u32) -> Click {
        Click { link: LINK, at: AT, nanos, visitor: Visitor::Person }
    }

    pub(crate) fn handoff() {
        loom::model(|| {
            let lane = Arc::new(Lane::default());
            let worker = Arc::clone(&lane);
            let worker = thread::spawn(move || {
                assert!(worker.push(click(1)));
                assert!(worker.push(click(2)));
            });
            let mut seen = Vec::new();
            let mut collect = || {
                let mut clicks = Vec::new();
                lane.exchange(&mut clicks);
                seen.extend(clicks.iter().map(|click| click.nanos));
            };
            collect();
            worker.join().unwrap();
            collect();
            assert_eq!(seen, [1, 2], "each once, in their order");
        });
    }

    /// The cells by themselves.
    impl Counted for Arc<Cell> {
        fn cell(&self) -> &Cell {
            self
        }

        fn holders(&self) -> usize {
            Arc::strong_count(self)
        }
    }

    fn tally() -> Tally {
        let hour = Hour::of(AT);
        Tally { link: LINK, hour, others: 0, visits: 1, nanos: 1, last_at: AT }
    }

    /// A hit was counted in a cell that nobody holds any more. The writer writes it and drops the cell,
    /// while the link is loaded again. Whatever the order, the new cell knows of the hit.
    fn load_beside_the_writer(names_its_round: bool) {
        let month = Month::of(AT);
        let cells = Arc::new(Cells::<Arc<Cell>>::default());
        let store = Arc::new(AtomicU64::new(0));
        let load = |hits, round| {
            let first = || Arc::new(Cell::new(LINK, month, hits, None));
            cells.get(LINK, round, Arc::clone, first)
        };
        let first = load(0, cells.round()).unwrap();
        assert!(first.quota().take(month, 9).is_some());
        drop(first);
        let writer = {
            let (cells, store) = (Arc::clone(&cells), Arc::clone(&store));
            thread::spawn(move || {
                store.fetch_add(1, Ordering::AcqRel);
                cells.wrote(&[tally()]);
            })
        };
        let cell = loop {
            let round = cells.round();
            let hits = i64::try_from(store.load(Ordering::Acquire)).unwrap();
            let round = if names_its_round { round } else { cells.round() };
            if let Some(cell) = load(hits, round) {
                break cell;
            }
        };
        assert_eq!(cell.quota().used(), (month, 1), "the hit is forgotten");
        writer.join().unwrap();
    }

    pub(crate) fn cells_never_forget() {
        loom::model(|| load_beside_the_writer(true));
    }

    pub(crate) fn no_round() {
        loom::model(|| load_beside_the_writer(false));
    }
}
