//! Of `src/clicks`, what a worker and the click writer share.

#[path = "../../src/clicks/event.rs"]
mod event;
#[path = "../../src/clicks/queue.rs"]
mod queue;

pub use event::{Click, VisitorKind};

pub(crate) mod races {
    use loom::thread;

    use super::queue::ClickQueue;
    use super::{Click, VisitorKind};
    use crate::clock::Timestamp;
    use crate::link::LinkId;
    use crate::sync::Arc;

    fn click(nanos: u32) -> Click {
        let at = Timestamp::from_ms(1_773_576_000_000);
        Click { link: LinkId(1), at, nanos, visitor: VisitorKind::Person }
    }

    pub(crate) fn handoff() {
        loom::model(|| {
            let queue = Arc::new(ClickQueue::default());
            let worker = Arc::clone(&queue);
            let worker = thread::spawn(move || {
                assert!(worker.push(click(1)));
                assert!(worker.push(click(2)));
            });
            let mut seen = Vec::new();
            let mut collect = || {
                let mut clicks = Vec::new();
                queue.exchange(&mut clicks);
                seen.extend(clicks.iter().map(|click| click.nanos));
            };
            collect();
            worker.join().unwrap();
            collect();
            assert_eq!(seen, [1, 2], "each once, in their order");
        });
    }
}
