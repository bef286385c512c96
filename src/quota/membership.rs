//! This process's place among those that share quotas: its bit, the others that run, and until when it may
//! use what it has reserved without asking the database again.
//!
//! Invariant: a process stops using its hits before others may be granted them ([`VALID_MS`] is shorter than
//! [`SILENT`]), unless it cannot reach the database.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Clock;
use crate::store::{Error, QuotaMembership, Store};
use kurz_core::quota::grant::Members;
use kurz_core::time::Timestamp;

/// How often the process says that it runs.
pub(super) const RENEW: Duration = Duration::from_secs(5);
/// How long it may use its hits after it last did.
const VALID_MS: i64 = 30_000;
/// After this long a process that said nothing counts as ended.
const SILENT: Duration = Duration::from_secs(45);
/// How long to go on without the database before trying it again.
const AWAY_MS: i64 = 2_000;

#[derive(Debug)]
pub(super) struct Membership {
    writer: i64,
    clock: Clock,
    members: Mutex<Members>,
    /// Grows when what this process had reserved becomes void.
    generation: AtomicU64,
    /// The database's clock minus ours, in milliseconds.
    offset: AtomicI64,
    /// Until when hits may be used, by our clock.
    valid_until: AtomicI64,
    /// One renewal at a time.
    renewing: tokio::sync::Mutex<()>,
}

/// What became of a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renewal {
    Renewed,
    /// The process was taken for an ended one: what it had reserved is void.
    Lost,
}

impl Membership {
    /// Join the processes that share the quotas of `store`; this one is registered as `writer`.
    pub(super) async fn join(store: &Store, writer: i64, clock: Clock) -> Result<Self, Error> {
        let asked = clock.now().as_ms();
        let QuotaMembership { members, now } = store.join_quota(writer, clock.now()).await?;
        Ok(Self {
            writer,
            members: Mutex::new(members),
            generation: AtomicU64::new(0),
            offset: AtomicI64::new(clock.behind(now)),
            valid_until: AtomicI64::new(asked + VALID_MS),
            renewing: tokio::sync::Mutex::default(),
            clock,
        })
    }

    /// The time by the database's clock, which decides when a month begins.
    #[inline]
    pub(super) fn now(&self) -> Timestamp {
        let offset = self.offset.load(Ordering::Relaxed);
        Timestamp::from_ms(self.clock.now().as_ms().saturating_add(offset))
    }

    /// Whether hits may be used at `now`, a time of [`Membership::now`].
    #[inline]
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        let offset = self.offset.load(Ordering::Relaxed);
        now.as_ms().saturating_sub(offset) < self.valid_until.load(Ordering::Relaxed)
    }

    pub(super) fn members(&self) -> Members {
        *lock(&self.members)
    }

    /// Changes when what this process had reserved before becomes void.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Say that this process runs.
    pub(super) async fn renew(&self, store: &Store) -> Result<Renewal, Error> {
        let _one = self.renewing.lock().await;
        let (asked, own) = (self.clock.now(), self.members().own);
        let renewed = store.renew_quota(self.writer, own, SILENT, asked).await?;
        let (renewal, QuotaMembership { members, now }) = match renewed {
            Some(joined) => (Renewal::Renewed, joined),
            None => (Renewal::Lost, store.join_quota(self.writer, asked).await?),
        };
        *lock(&self.members) = members;
        if renewal == Renewal::Lost {
            self.generation.fetch_add(1, Ordering::AcqRel);
        }
        self.offset.store(self.clock.behind(now), Ordering::Relaxed);
        self.valid_until.store(asked.as_ms() + VALID_MS, Ordering::Relaxed);
        Ok(renewal)
    }

    /// Go on for a while: the database cannot be reached. Others that reach it may take this process for an
    /// ended one; an instance that is cut off alone can exceed a limit by what it holds.
    pub(super) fn go_on(&self) {
        let until = self.clock.now().as_ms() + AWAY_MS;
        self.valid_until.fetch_max(until, Ordering::Relaxed);
    }

    /// This process ends.
    pub(super) async fn leave(&self, store: &Store) -> Result<(), Error> {
        store.leave_quota(self.writer).await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every operation leaves the guarded value consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
