//! The quota that all instances share, on Redis. A redirect uses a hit that this instance has
//! reserved; only when none is left does it wait for a grant, together with all others of the same
//! link. Grants are requested before they run out, reported while they are used, and returned when
//! they are not.
//!
//! Invariants: links without a limit are not counted here; one request per link at a time; nothing
//! waits while the breaker is open.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::config::OnOutage;
use crate::peers::{Message, Peers};
use crate::quota::LinkReservation;
use crate::quota::grant_script;
use crate::redis::{Redis, Script};
use crate::store::Store;
use kurz_core::link::{LinkId, Month};
use kurz_core::quota::grant::{GrantCount, GrantReply, GrantRequest};
use kurz_core::quota::reservation::{NextStep, Take};
use kurz_core::time::Timestamp;

/// Links that may wait for a request.
const WAITING: usize = 16_384;
const AT_ONCE: usize = 512;
/// How long a redirect waits: as many calls as it takes to open the breaker.
const PATIENCE: Duration = Duration::from_millis(400);
/// How long other instances may take to return the last hits; it happens once per link and month.
const RECALL: Duration = Duration::from_secs(1);
/// How long a redirect waits for that, or for a read from the store.
const LONG_PATIENCE: Duration = Duration::from_millis(1_500);
/// The first interval of checking whether they did; it doubles.
const RECALL_STEP: Duration = Duration::from_millis(4);
const RECALL_LONGEST_STEP: Duration = Duration::from_millis(64);
/// How long a limit counts as used up when an instance returned nothing: it has crashed.
const LOST_MS: i64 = 10_000;
/// After this long hits are usually in the store: twice the flush interval.
const WRITTEN_AFTER: Duration = Duration::from_millis(500);
const SWEEP: Duration = Duration::from_millis(500);
/// How often use is reported, hence how long a lost counter goes unnoticed.
const REPORT_MS: i64 = 2_000;
/// After this long without a hit, reserved hits are returned.
const IDLE_MS: i64 = 10_000;
/// How often unused reservations are dropped, in sweeps.
const DROP_EVERY: u32 = 20;
/// How long returning all hits at shutdown may take.
const LAST: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitOutcome {
    /// It may be served.
    Granted,
    Over,
    /// Redis is away, and no hit is reserved.
    Away,
}

/// Hits a month, counted by all instances together.
#[derive(Debug)]
pub struct SharedQuota {
    redis: Arc<Redis>,
    store: Arc<Store>,
    peers: Arc<Peers>,
    clock: Clock,
    on_outage: OnOutage,
    script: Script,
    /// Redis's clock minus ours, in milliseconds.
    offset: AtomicI64,
    links: Mutex<HashMap<LinkId, Arc<LinkReservation>>>,
    active: Mutex<Vec<Arc<LinkReservation>>>,
    to_ask: mpsc::Sender<Arc<LinkReservation>>,
    waiting: Mutex<Option<mpsc::Receiver<Arc<LinkReservation>>>>,
}

impl SharedQuota {
    /// On `redis`, beside the other instances of `peers`.
    pub fn new(
        redis: Arc<Redis>,
        store: Arc<Store>,
        peers: Arc<Peers>,
        clock: Clock,
        on_outage: OnOutage,
    ) -> Self {
        let (to_ask, waiting) = mpsc::channel(WAITING);
        Self {
            redis,
            store,
            peers,
            clock,
            on_outage,
            script: grant_script::counter(),
            offset: AtomicI64::new(0),
            links: Mutex::default(),
            active: Mutex::default(),
            to_ask,
            waiting: Mutex::new(Some(waiting)),
        }
    }

    /// What this instance holds of a link, which had `hits` in `month` as far as the store knew.
    pub fn reservation(&self, link: LinkId, month: Month, hits: u64) -> Arc<LinkReservation> {
        let mut links = lock(&self.links);
        let fresh = || Arc::new(LinkReservation::new(link, month, hits));
        Arc::clone(links.entry(link).or_insert_with(fresh))
    }

    /// The time by the clock of Redis, which decides when a month begins.
    pub fn now(&self) -> Timestamp {
        let offset = self.offset.load(Ordering::Relaxed);
        Timestamp::from_ms(self.clock.now().as_ms().saturating_add(offset))
    }

    /// Take a hit under `limit` at once; `None` when one has to ask.
    pub fn take(&self, link: &Arc<LinkReservation>, limit: u64) -> Option<HitOutcome> {
        let now = self.now();
        if self.on_outage == OnOutage::Closed && self.redis.is_away() {
            return Some(HitOutcome::Away);
        }
        match link.reservation.take(Month::of(now), limit, now.as_ms()) {
            Take::Taken => Some(HitOutcome::Granted),
            Take::TakenLast => {
                self.request(link);
                Some(HitOutcome::Granted)
            }
            Take::Over => Some(HitOutcome::Over),
            Take::Ask => None,
        }
    }

    /// The same for whoever takes nothing.
    pub fn look(&self, link: &Arc<LinkReservation>, limit: u64) -> Option<HitOutcome> {
        let now = self.now();
        let room = link.reservation.has_room(Month::of(now), limit, now.as_ms())?;
        Some(if room { HitOutcome::Granted } else { HitOutcome::Over })
    }

    /// Ask for hits of a link under `limit`, and take one unless `looks_only`.
    pub async fn ask(
        &self,
        link: &Arc<LinkReservation>,
        limit: u64,
        looks_only: bool,
    ) -> HitOutcome {
        let _waiting = link.reservation.wait(limit);
        let started = Instant::now();
        loop {
            let mut done = std::pin::pin!(link.done.notified());
            done.as_mut().enable();
            let hit = if looks_only { self.look(link, limit) } else { self.take(link, limit) };
            if let Some(hit) = hit {
                return hit;
            }
            if self.redis.is_away() {
                return self.on_outage_answer(link, looks_only);
            }
            self.request(link);
            let worth = link.may_wait_longer.load(Ordering::Acquire);
            let patience = if worth { LONG_PATIENCE } else { PATIENCE };
            if timeout_at(started + patience, done).await.is_err() {
                let worth = worth || link.may_wait_longer.load(Ordering::Acquire);
                if !worth || started.elapsed() >= LONG_PATIENCE {
                    return self.on_outage_answer(link, looks_only);
                }
            }
        }
    }

    /// What to do without an answer.
    fn on_outage_answer(&self, link: &Arc<LinkReservation>, looks_only: bool) -> HitOutcome {
        metrics::counter!("kurz_quota_unavailable_total").increment(1);
        if self.on_outage != OnOutage::Open {
            return HitOutcome::Away;
        }
        if !looks_only {
            link.reservation.add_debt();
        }
        HitOutcome::Granted
    }

    /// Another instance wants the unused hits of `link`.
    pub fn recall(&self, link: LinkId) {
        let held = lock(&self.links).get(&link).cloned();
        if let Some(link) = held {
            link.reservation.recall();
            self.request(&link);
        }
    }

    /// See to it that the link is asked about. Never waits.
    fn request(&self, link: &Arc<LinkReservation>) {
        if self.redis.is_away() || link.busy.swap(true, Ordering::AcqRel) {
            return;
        }
        if self.to_ask.try_send(Arc::clone(link)).is_err() {
            link.busy.store(false, Ordering::Release);
        }
    }

    /// Send requests and sweep reservations until `stop`.
    pub fn start(self: &Arc<Self>, tasks: &TaskTracker, stop: &CancellationToken) {
        let Some(waiting) = lock(&self.waiting).take() else { return };
        let asking = Arc::clone(self).ask_all(waiting, tasks.clone());
        let until = stop.clone();
        tasks.spawn(async move { until.run_until_cancelled(asking).await });
        let sweeping = Arc::clone(self).sweep_on();
        let until = stop.clone();
        tasks.spawn(async move { until.run_until_cancelled(sweeping).await });
    }

    async fn ask_all(
        self: Arc<Self>,
        mut waiting: mpsc::Receiver<Arc<LinkReservation>>,
        tasks: TaskTracker,
    ) {
        let room = Arc::new(Semaphore::new(AT_ONCE));
        while let Some(link) = waiting.recv().await {
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
            let quota = Arc::clone(&self);
            tasks.spawn(async move {
                quota.synchronise(&link).await;
                drop(permit);
            });
        }
    }

    /// Ask about a link until those who wait have what they can get.
    async fn synchronise(&self, link: &Arc<LinkReservation>) {
        if !link.active.swap(true, Ordering::AcqRel) {
            lock(&self.active).push(Arc::clone(link));
        }
        self.exchange(link).await;
        link.may_wait_longer.store(false, Ordering::Release);
        link.busy.store(false, Ordering::Release);
        link.done.notify_waiters();
        // Somebody may have come after the last answer and before it was said that nobody asks.
        let recalled = link.reservation.is_recalled();
        if recalled || link.reservation.is_wanting(self.now().as_ms()) {
            self.request(link);
        }
    }

    async fn exchange(&self, link: &Arc<LinkReservation>) {
        let mut seed = None;
        let mut recalled_at: Option<Instant> = None;
        let mut step = RECALL_STEP;
        loop {
            let now = self.now();
            let month = Month::of(now);
            let request = link.reservation.request(month, self.peers.size(), seed, now.as_ms());
            let Some(reply) = self.send(link, &request).await else {
                if self.redis.is_away() || link.reservation.waiting() == 0 {
                    return;
                }
                continue;
            };
            let next = link.reservation.settle(&request, &reply, self.now().as_ms());
            link.done.notify_waiters();
            match next {
                NextStep::Done => return,
                NextStep::Again => {}
                NextStep::Seed => {
                    link.may_wait_longer.store(true, Ordering::Release);
                    seed = Some(self.seed(link, month).await);
                }
                NextStep::Contested if link.reservation.waiting() == 0 => return,
                NextStep::Contested => {
                    let since = *recalled_at.get_or_insert_with(|| {
                        link.may_wait_longer.store(true, Ordering::Release);
                        self.peers.publish(Message::Recall(link.reservation.link().0));
                        metrics::counter!("kurz_quota_reservations_recalled_total").increment(1);
                        Instant::now()
                    });
                    if since.elapsed() >= RECALL {
                        link.reservation.close(month, self.now().as_ms() + LOST_MS);
                        return;
                    }
                    sleep(step).await;
                    step = (2 * step).min(RECALL_LONGEST_STEP);
                }
            }
        }
    }

    /// What the store knows of a link's hits.
    async fn seed(&self, link: &LinkReservation, month: Month) -> u64 {
        if link.reservation.unreported(month) > 0 {
            // There was a counter, and it is lost: the last hits are on their way to the store.
            sleep(WRITTEN_AFTER).await;
        }
        let written = self.store.month_hits(link.reservation.link(), month).await;
        // Without the store, what was known when the link was read has to do.
        written.unwrap_or_else(|_| link.reservation.known(month))
    }

    /// Put a request to Redis; `None` when there is no answer.
    async fn send(&self, link: &LinkReservation, request: &GrantRequest) -> Option<GrantReply> {
        if self.redis.is_away() {
            link.reservation.unsent(request);
            return None;
        }
        link.reservation.sending();
        let key = format!("links:{}:hits:{}", link.reservation.link(), request.month);
        let args = grant_script::arguments(request, self.peers.instance());
        let numbers = self.redis.run(&self.script, &key, &args).await.ok()?;
        let reply = grant_script::read(&numbers)?;
        let now = match &reply {
            GrantReply::Counted(GrantCount { now, .. })
            | GrantReply::NoCounter { now }
            | GrantReply::OtherMonth { now } => *now,
        };
        let offset = now.as_ms() - self.clock.now().as_ms();
        self.offset.store(offset, Ordering::Relaxed);
        Some(reply)
    }

    async fn sweep_on(self: Arc<Self>) {
        let mut ticks = interval(SWEEP);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for round in 0_u32.. {
            ticks.tick().await;
            self.sweep();
            if round % DROP_EVERY == 0 {
                self.drop_unused();
            }
        }
    }

    /// Report use, return unused hits, and drop empty reservations.
    fn sweep(&self) {
        let at = self.now().as_ms();
        let mut idle = Vec::new();
        lock(&self.active).retain(|link| {
            let status = link.reservation.status(at);
            let is_idle = status.idle_ms >= IDLE_MS && link.reservation.waiting() == 0;
            if is_idle && status.held == 0 && !status.unanswered {
                link.active.store(false, Ordering::Release);
                return false;
            }
            let is_due = status.held > 0 && status.used && status.silent_ms >= REPORT_MS;
            if is_idle || is_due {
                idle.push((Arc::clone(link), is_idle));
            }
            true
        });
        if self.redis.is_away() {
            return;
        }
        for (link, is_idle) in idle {
            if is_idle {
                link.reservation.recall();
            }
            self.request(&link);
        }
    }

    fn drop_unused(&self) {
        lock(&self.links)
            .retain(|_, link| Arc::strong_count(link) > 1 || link.active.load(Ordering::Acquire));
    }

    /// Return all reserved hits, at shutdown.
    pub async fn give_back(&self) {
        let held: Vec<Arc<LinkReservation>> = lock(&self.active).drain(..).collect();
        let give = |link: Arc<LinkReservation>| async move {
            // Twice when a request was under way, which is asked again first.
            for _ in 0..2 {
                link.reservation.recall();
                let now = self.now();
                let month = Month::of(now);
                let request = link.reservation.request(month, self.peers.size(), None, now.as_ms());
                let Some(reply) = self.send(&link, &request).await else { return };
                link.reservation.settle(&request, &reply, now.as_ms());
                if link.reservation.status(now.as_ms()).held == 0 {
                    return;
                }
            }
        };
        let all = stream::iter(held).for_each_concurrent(AT_ONCE, give);
        if timeout(LAST, all).await.is_err() {
            tracing::warn!("not all reserved hits could be given back");
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every operation leaves the guarded value consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
