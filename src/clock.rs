//! Time: the only module that reads it. Everybody else takes a [`Clock`] as a parameter, so that a
//! test can move it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kurz_core::time::{LatestTime, Timestamp};

/// How long the two clocks of the system are taken to stay apart as they are: as late a wall clock
/// that was set anew is noticed by [`Clock::at`].
const APART_FOR: Duration = Duration::from_millis(10);
/// How far apart they may be read for that. More, and something came in between.
const AT_ONCE: Duration = Duration::from_micros(100);

/// Tells the time: the system's, or one that a test moves by hand.
#[derive(Clone, Debug)]
pub struct Clock {
    manual: Option<Arc<AtomicI64>>,
    latest: Arc<LatestTime>,
    apart: Arc<Apart>,
    /// Where a manual clock stood at first.
    origin: Timestamp,
}

/// The wall clock and the one that only goes forward, read at once not long ago.
#[derive(Debug)]
struct Apart {
    start: Instant,
    /// What the wall clock said at `start`, in nanoseconds, as was last found.
    wall: AtomicI64,
    /// Until when that holds, in nanoseconds after `start`.
    until: AtomicI64,
}

impl Clock {
    /// The system's wall clock.
    pub fn system() -> Self {
        let start = Stopwatch::start().0;
        let apart = Apart { start, wall: AtomicI64::new(0), until: AtomicI64::new(i64::MIN) };
        Self {
            manual: None,
            latest: Arc::default(),
            apart: Arc::new(apart),
            origin: Timestamp::from_ms(0),
        }
    }

    /// A clock that stands at `start` until [`Clock::set`] or [`Clock::advance`].
    pub fn manual(start: Timestamp) -> Self {
        let manual = Some(Arc::new(AtomicI64::new(start.as_ms())));
        Self { manual, origin: start, ..Self::system() }
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        match &self.manual {
            Some(manual) => Timestamp::from_ms(manual.load(Ordering::Acquire)),
            None => Timestamp::from_nanos(wall_nanos()),
        }
    }

    /// What time it was when `watch` was started, a moment ago. Of the system's two clocks it has
    /// been read from one already: the other is asked a hundred times a second at most.
    pub fn at(&self, watch: Stopwatch) -> Timestamp {
        if self.manual.is_some() {
            return self.now();
        }
        let Apart { start, wall, until } = &*self.apart;
        let started = nanos(watch.0.saturating_duration_since(*start));
        if started < until.load(Ordering::Acquire) {
            return Timestamp::from_nanos(wall.load(Ordering::Relaxed).saturating_add(started));
        }
        let before = Stopwatch::start();
        let now = wall_nanos();
        if before.elapsed() <= AT_ONCE {
            let since = nanos(before.0.saturating_duration_since(*start));
            wall.store(now.saturating_sub(since), Ordering::Relaxed);
            until.store(since.saturating_add(nanos(APART_FOR)), Ordering::Release);
        }
        Timestamp::from_nanos(now)
    }

    /// How long ago this clock was made: for what has to pass whatever day it is. It never goes back,
    /// and is not touched when somebody sets the time.
    pub fn steady(&self) -> Duration {
        let Some(manual) = &self.manual else { return self.apart.start.elapsed() };
        let passed = manual.load(Ordering::Acquire).saturating_sub(self.origin.as_ms());
        Duration::from_millis(u64::try_from(passed).unwrap_or_default())
    }

    /// The latest of `now` and all times given here before, by this clock and its clones.
    pub fn latest(&self, now: Timestamp) -> Timestamp {
        self.latest.observe(now)
    }

    /// Move a manual clock to `to`; the system's clock stays as it is.
    pub fn set(&self, to: Timestamp) {
        if let Some(manual) = &self.manual {
            manual.store(to.as_ms(), Ordering::Release);
        }
    }

    /// Move a manual clock forward.
    pub fn advance(&self, by: Duration) {
        self.set(self.now().plus(by));
    }
}

fn wall_nanos() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "this module is where the time enters")]
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    nanos(since.unwrap_or_default())
}

/// Up to 292 years.
fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Measures how long something takes; wall-clock jumps do not touch it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Start measuring.
    pub fn start() -> Self {
        #[expect(clippy::disallowed_methods, reason = "this module is where the time enters")]
        let now = Instant::now();
        Self(now)
    }

    /// How long since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_start_is_the_walls_time_then() {
        let clock = Clock::system();
        let mut after = Timestamp::from_ms(0);
        for _ in 0..100_000 {
            let before = clock.now();
            let at = clock.at(Stopwatch::start());
            after = clock.now();
            // One of them may be in the millisecond before.
            assert!(before.as_ms() - 1 <= at.as_ms() && at.as_ms() <= after.as_ms() + 1);
        }
        let manual = Clock::manual(Timestamp::from_ms(5));
        manual.set(after);
        assert_eq!(manual.at(Stopwatch::start()), after);
    }

    #[test]
    fn a_manual_clock_moves_only_by_hand() {
        let clock = Clock::manual(Timestamp::from_ms(5));
        assert_eq!(clock.now().as_ms(), 5);
        clock.clone().advance(Duration::from_millis(7));
        assert_eq!(clock.now().as_ms(), 12);
    }

    #[test]
    fn the_latest_time_does_not_go_back() {
        let clock = Clock::manual(Timestamp::from_ms(50));
        assert_eq!(clock.latest(clock.now()).as_ms(), 50);
        clock.set(Timestamp::from_ms(10));
        assert_eq!(clock.clone().latest(clock.now()).as_ms(), 50);
        clock.set(Timestamp::from_ms(60));
        assert_eq!(clock.latest(clock.now()).as_ms(), 60);
        assert_eq!(clock.now().as_ms(), 60);
    }
}
