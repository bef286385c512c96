//! The only module that reads the time. Other modules take a [`Clock`] as a parameter, so that a test
//! can set it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kurz_core::time::{LatestTime, Timestamp};

/// How long a measured offset between wall clock and monotonic clock is used: [`Clock::at`] notices a
/// change of the wall clock this much later.
const OFFSET_VALID_FOR: Duration = Duration::from_millis(10);
/// The longest time between reading the two clocks. After a longer one the thread was interrupted, and the
/// offset would be wrong.
const MAX_READ_GAP: Duration = Duration::from_micros(100);

/// The system's clock, or one that a test sets.
#[derive(Clone, Debug)]
pub struct Clock {
    manual: Option<Arc<AtomicI64>>,
    latest: Arc<LatestTime>,
    offset: Arc<ClockOffset>,
    /// The start of a manual clock.
    origin: Timestamp,
}

/// The offset between the monotonic clock and the wall clock, measured a short time ago.
#[derive(Debug)]
struct ClockOffset {
    start: Instant,
    /// The wall clock at `start`, in nanoseconds, as last measured.
    wall: AtomicI64,
    /// Until when `wall` is used, in nanoseconds after `start`.
    until: AtomicI64,
}

impl Clock {
    pub fn system() -> Self {
        let start = Stopwatch::start().0;
        let offset =
            ClockOffset { start, wall: AtomicI64::new(0), until: AtomicI64::new(i64::MIN) };
        Self {
            manual: None,
            latest: Arc::default(),
            offset: Arc::new(offset),
            origin: Timestamp::from_ms(0),
        }
    }

    /// A clock that stays at `start` until [`Clock::set`] or [`Clock::advance`].
    pub fn manual(start: Timestamp) -> Self {
        let manual = Some(Arc::new(AtomicI64::new(start.as_ms())));
        Self { manual, origin: start, ..Self::system() }
    }

    /// By how many milliseconds this clock is behind `other`, another computer's. A manual clock is the only
    /// one of its test: it is never behind.
    pub fn behind(&self, other: Timestamp) -> i64 {
        if self.manual.is_some() { 0 } else { other.as_ms() - self.now().as_ms() }
    }

    pub fn now(&self) -> Timestamp {
        match &self.manual {
            Some(manual) => Timestamp::from_ms(manual.load(Ordering::Acquire)),
            None => Timestamp::from_nanos(wall_nanos()),
        }
    }

    /// The time when `watch` was started, a moment ago. It reads the wall clock at most a hundred times a
    /// second, and otherwise adds the offset to the stopwatch's start.
    pub fn at(&self, watch: Stopwatch) -> Timestamp {
        if self.manual.is_some() {
            return self.now();
        }
        let ClockOffset { start, wall, until } = &*self.offset;
        let started = nanos(watch.0.saturating_duration_since(*start));
        if started < until.load(Ordering::Acquire) {
            return Timestamp::from_nanos(wall.load(Ordering::Relaxed).saturating_add(started));
        }
        let before = Stopwatch::start();
        let now = wall_nanos();
        if before.elapsed() <= MAX_READ_GAP {
            let since = nanos(before.0.saturating_duration_since(*start));
            wall.store(now.saturating_sub(since), Ordering::Relaxed);
            until.store(since.saturating_add(nanos(OFFSET_VALID_FOR)), Ordering::Release);
        }
        Timestamp::from_nanos(now)
    }

    /// The time since this clock was created. It is monotonic: setting the system's time does not change
    /// it.
    pub fn steady(&self) -> Duration {
        let Some(manual) = &self.manual else { return self.offset.start.elapsed() };
        let passed = manual.load(Ordering::Acquire).saturating_sub(self.origin.as_ms());
        Duration::from_millis(u64::try_from(passed).unwrap_or_default())
    }

    /// The latest of `now` and all times given here before, by this clock and its clones.
    pub fn latest(&self, now: Timestamp) -> Timestamp {
        self.latest.observe(now)
    }

    /// Set a manual clock; no effect on the system's clock.
    pub fn set(&self, to: Timestamp) {
        if let Some(manual) = &self.manual {
            manual.store(to.as_ms(), Ordering::Release);
        }
    }

    pub fn advance(&self, by: Duration) {
        self.set(self.now().plus(by));
    }
}

fn wall_nanos() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "the only module that reads the time")]
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    nanos(since.unwrap_or_default())
}

/// Saturates at 292 years.
fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Measures durations with the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the only module that reads the time")]
        let now = Instant::now();
        Self(now)
    }

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
