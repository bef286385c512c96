//! The quota that instances of one database share. A redirect uses a hit that this instance has reserved; only when
//! none is left does it wait for a grant, together with all others of the same link. More hits are requested
//! before they run out, and given back when another instance wants them or the link leaves the cache.
//!
//! Invariants: links without a limit are not counted here; one request per link at a time.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::config::OnOutage;
use crate::peers::{Message, Peers};
use crate::quota::membership::{Membership, RENEW, Renewal};
use crate::quota::{HitOutcome, LinkReservation};
use crate::store::{Error, Store};
use kurz_core::link::{LinkId, Month};
use kurz_core::quota::grant::{GrantReply, GrantRequest};
use kurz_core::quota::reservation::{NextStep, Take};
use kurz_core::time::Timestamp;

/// Links that may wait for a request.
const WAITING: usize = 16_384;
/// Requests in one transaction, and transactions at once.
const TOGETHER: usize = 32;
const AT_ONCE: usize = 4;
/// How long a redirect waits for a hit.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long other instances may take to give back the last hits; it happens a few times per link and month.
const RECALL: Duration = Duration::from_secs(1);
/// The first interval of checking whether they did; it doubles.
const RECALL_STEP: Duration = Duration::from_millis(4);
const RECALL_LONGEST_STEP: Duration = Duration::from_millis(64);
/// How long a limit counts as used up when an instance that runs gave nothing back.
const UNANSWERED_MS: i64 = 2_000;
/// How long after its hits were given back a link can be forgotten: a redirect that took the last one has pushed its
/// click by then.
const SETTLED: Duration = Duration::from_secs(1);
/// How often reservations of links that left the cache are given back, and how many then.
const DROP_EVERY: Duration = Duration::from_secs(1);
const DROP_AT_ONCE: usize = 4_000;
/// Reservations of links that left the cache which may wait for that. More of them are dropped: their hits come
/// back when somebody needs them.
const UNUSED: usize = 50_000;
/// Reservations that are given back in one transaction at shutdown.
const LAST_TOGETHER: usize = 500;
/// How long giving back all hits at shutdown may take.
const LAST: Duration = Duration::from_secs(8);

/// Hits a month, counted by all instances together.
#[derive(Debug)]
pub struct SharedQuota {
    store: Arc<Store>,
    peers: Arc<Peers>,
    on_outage: OnOutage,
    membership: Membership,
    links: Mutex<HashMap<LinkId, Arc<LinkReservation>>>,
    /// Links of which nothing is held, to be forgotten once all of their clicks are written.
    to_forget: Mutex<HashMap<LinkId, Instant>>,
    to_ask: mpsc::Sender<Arc<LinkReservation>>,
    waiting: Mutex<Option<mpsc::Receiver<Arc<LinkReservation>>>>,
}

impl SharedQuota {
    /// Share the quotas of `store` with the other instances; this process writes its clicks as `writer`.
    pub async fn join(
        store: Arc<Store>,
        peers: Arc<Peers>,
        writer: i64,
        clock: Clock,
        on_outage: OnOutage,
    ) -> Result<Self, Error> {
        let (to_ask, waiting) = mpsc::channel(WAITING);
        Ok(Self {
            membership: Membership::join(&store, writer, clock).await?,
            store,
            peers,
            on_outage,
            links: Mutex::default(),
            to_forget: Mutex::default(),
            to_ask,
            waiting: Mutex::new(Some(waiting)),
        })
    }

    /// What this instance holds of a link.
    pub fn reservation(&self, link: LinkId) -> Arc<LinkReservation> {
        let mut links = lock(&self.links);
        Arc::clone(links.entry(link).or_insert_with(|| Arc::new(LinkReservation::new(link))))
    }

    /// The time by the clock of the database, which decides when a month begins.
    pub fn now(&self) -> Timestamp {
        self.membership.now()
    }

    /// Take a hit under `limit` at once; `None` when one has to ask.
    pub fn take(&self, link: &Arc<LinkReservation>, limit: u64) -> Option<HitOutcome> {
        let now = self.now();
        if !self.may_use(now) {
            return None;
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
        if !self.may_use(now) {
            return None;
        }
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
        let until = Instant::now() + PATIENCE;
        if self.is_closed() || !self.renew_if_due(until).await {
            return self.on_outage_answer();
        }
        let _waiting = link.reservation.wait(limit);
        loop {
            let mut done = std::pin::pin!(link.done.notified());
            done.as_mut().enable();
            let hit = if looks_only { self.look(link, limit) } else { self.take(link, limit) };
            if let Some(hit) = hit {
                return hit;
            }
            let asked = self.request(link);
            let has_failed = timeout_at(until, done).await.is_err()
                || (asked && link.failed.load(Ordering::Acquire));
            if has_failed || self.is_closed() {
                return self.on_outage_answer();
            }
        }
    }

    /// Another instance wants the unused hits of `link`.
    pub fn recall(&self, link: LinkId) {
        let held = lock(&self.links).get(&link).cloned();
        match held {
            Some(link) => {
                link.reservation.recall();
                self.request(&link);
            }
            // It may still be known as one that has hits of it.
            None => self.forget_later(link),
        }
    }

    /// Forget the links of which nothing is held any more, once `is_written` says that all of their clicks
    /// are in the tables: then what is still reserved of them can be granted to others.
    pub async fn forget(&self, is_written: impl Fn(LinkId) -> bool) -> Result<(), Error> {
        let due: Vec<LinkId> = {
            let to_forget = lock(&self.to_forget);
            let settled = to_forget.iter().filter(|(_, since)| since.elapsed() >= SETTLED);
            settled.map(|(link, _)| *link).filter(|link| is_written(*link)).collect()
        };
        // A link that is asked about meanwhile has hits again.
        let due: Vec<(LinkId, Option<Arc<LinkReservation>>)> =
            due.into_iter().filter_map(|link| self.hold(link)).collect();
        if due.is_empty() {
            return Ok(());
        }
        let links: Vec<LinkId> = due.iter().map(|(link, _)| *link).collect();
        let own = self.membership.members().own;
        let forgotten = self.store.forget_hits(own, Month::of(self.now()), &links).await;
        for (link, held) in due {
            if forgotten.is_ok() {
                lock(&self.to_forget).remove(&link);
            }
            if let Some(held) = held {
                self.release(&held);
            }
        }
        forgotten
    }

    /// Mark a link as busy, if nothing is held of it; `None` otherwise.
    fn hold(&self, link: LinkId) -> Option<(LinkId, Option<Arc<LinkReservation>>)> {
        let Some(held) = lock(&self.links).get(&link).cloned() else { return Some((link, None)) };
        if held.busy.swap(true, Ordering::AcqRel) {
            return None;
        }
        if held.reservation.hits() > 0 {
            lock(&self.to_forget).remove(&link);
            self.release(&held);
            return None;
        }
        Some((link, Some(held)))
    }

    /// Run until `stop`: send requests, say that this process runs, give back what is not used.
    pub fn start(self: &Arc<Self>, tasks: &TaskTracker, stop: &CancellationToken) {
        let Some(waiting) = lock(&self.waiting).take() else { return };
        let asking = Arc::clone(self).ask_all(waiting, tasks.clone());
        let until = stop.clone();
        tasks.spawn(async move { until.run_until_cancelled(asking).await });
        let renewing = Arc::clone(self).renew_on();
        let until = stop.clone();
        tasks.spawn(async move { until.run_until_cancelled(renewing).await });
        let dropping = Arc::clone(self).drop_on();
        let until = stop.clone();
        tasks.spawn(async move { until.run_until_cancelled(dropping).await });
    }

    /// Give back all reserved hits, at shutdown, after the last click was written.
    pub async fn give_back(&self) {
        let held: Vec<Arc<LinkReservation>> = lock(&self.links).drain().map(|(_, l)| l).collect();
        let give = async {
            for some in held.chunks(LAST_TOGETHER) {
                for link in some {
                    link.reservation.recall();
                }
                self.send(some).await;
            }
            self.membership.leave(&self.store).await
        };
        if !matches!(timeout(LAST, give).await, Ok(Ok(()))) {
            tracing::warn!(
                "not all reserved hits could be given back; others get them when they need them"
            );
        }
    }

    fn may_use(&self, now: Timestamp) -> bool {
        self.membership.is_valid(now) && !self.is_closed()
    }

    /// Whether nothing is to be served now: Redis is away, and the operator wants that then.
    fn is_closed(&self) -> bool {
        self.on_outage == OnOutage::Closed && self.peers.redis_answers() == Some(false)
    }

    /// Renew the membership, if it is due before hits may be used; whether they may.
    async fn renew_if_due(&self, until: Instant) -> bool {
        if self.membership.is_valid(self.now()) {
            return true;
        }
        if let Ok(Ok(())) = timeout_at(until, self.renew()).await {
            return true;
        }
        let goes_on = self.on_outage == OnOutage::Share;
        if goes_on {
            self.membership.go_on();
        }
        goes_on
    }

    async fn renew(&self) -> Result<(), Error> {
        if self.membership.renew(&self.store).await? == Renewal::Lost {
            tracing::warn!("this instance was silent for so long that its hits went to others");
            for link in lock(&self.links).values() {
                link.reservation.clear();
            }
        }
        Ok(())
    }

    async fn renew_on(self: Arc<Self>) {
        let mut ticks = interval(RENEW);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(error) = self.renew().await {
                tracing::debug!(%error, "the heartbeat of the quota could not be written");
            }
            let without = self.peers.redis_answers() == Some(false);
            metrics::gauge!("kurz_quota_without_redis").set(if without { 1.0 } else { 0.0 });
        }
    }

    /// What to do without a reply.
    fn on_outage_answer(&self) -> HitOutcome {
        metrics::counter!("kurz_quota_unavailable_total").increment(1);
        if self.on_outage == OnOutage::Open { HitOutcome::Uncounted } else { HitOutcome::Away }
    }

    /// See to it that the link is asked about; whether it is. Never waits.
    fn request(&self, link: &Arc<LinkReservation>) -> bool {
        if link.busy.swap(true, Ordering::AcqRel) {
            return true;
        }
        link.failed.store(false, Ordering::Release);
        let sent = self.to_ask.try_send(Arc::clone(link)).is_ok();
        if !sent {
            link.busy.store(false, Ordering::Release);
        }
        sent
    }

    async fn ask_all(
        self: Arc<Self>,
        mut waiting: mpsc::Receiver<Arc<LinkReservation>>,
        tasks: TaskTracker,
    ) {
        let room = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            // Requests that come while all are busy go together.
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
            let mut links = Vec::new();
            if waiting.recv_many(&mut links, TOGETHER).await == 0 {
                return;
            }
            let (quota, inner) = (Arc::clone(&self), tasks.clone());
            tasks.spawn(async move {
                let contested = quota.send(&links).await;
                drop(permit);
                for link in contested {
                    let quota = Arc::clone(&quota);
                    inner.spawn(async move { quota.recall_others(&link).await });
                }
            });
        }
    }

    /// Send requests for these links, and apply the replies; those that other instances hold the last hits of.
    async fn send(&self, links: &[Arc<LinkReservation>]) -> Vec<Arc<LinkReservation>> {
        let mut contested = Vec::new();
        let mut rest: Vec<Arc<LinkReservation>> = links.to_vec();
        // A second time only for those whose month ended meanwhile.
        for _ in 0..2 {
            let Ok(replies) = self.exchange(&rest).await else { break };
            let mut again = Vec::new();
            for (link, next) in rest.into_iter().zip(replies) {
                match next {
                    NextStep::Again => again.push(link),
                    NextStep::Contested => contested.push(link),
                    NextStep::Over { stale } => {
                        if stale {
                            self.recall_stale(&link);
                        }
                        self.release(&link);
                    }
                    NextStep::Done => self.release(&link),
                }
            }
            rest = again;
            if rest.is_empty() {
                return contested;
            }
        }
        for link in rest {
            link.failed.store(true, Ordering::Release);
            self.release(&link);
        }
        contested
    }

    /// One exchange with the database.
    async fn exchange(&self, links: &[Arc<LinkReservation>]) -> Result<Vec<NextStep>, Error> {
        let generation = self.membership.generation();
        let (now, members) = (self.now(), self.membership.members());
        let month = Month::of(now);
        let request = |link: &Arc<LinkReservation>| link.reservation.request(month, now.as_ms());
        let requests: Vec<GrantRequest> = links.iter().map(request).collect();
        let replies = self.store.grant_hits(members, &requests).await;
        let replies = replies.inspect_err(|error| {
            tracing::debug!(%error, "hits could not be reserved");
        })?;
        let asked = requests.iter().zip(replies);
        let settle = |(link, (request, reply)): (_, (&GrantRequest, Option<GrantReply>))| {
            self.settle(link, request, reply.as_ref())
        };
        let next = links.iter().zip(asked).map(settle).collect();
        if self.membership.generation() != generation {
            // This process was taken for an ended one meanwhile, and what it was granted is void.
            for link in links {
                link.reservation.clear();
            }
        }
        Ok(next)
    }

    fn settle(
        &self,
        link: &Arc<LinkReservation>,
        request: &GrantRequest,
        reply: Option<&GrantReply>,
    ) -> NextStep {
        if request.back.is_some() {
            self.forget_later(request.link);
        }
        if !request.asks() {
            return NextStep::Done;
        }
        metrics::counter!("kurz_quota_requests_total").increment(1);
        link.reservation.settle(request, reply, self.now().as_ms())
    }

    /// No task asks about the link any more.
    fn release(&self, link: &Arc<LinkReservation>) {
        link.busy.store(false, Ordering::Release);
        link.done.notify_waiters();
        // Somebody may have come after the last reply and before it was said that nobody asks.
        let recalled = link.reservation.is_recalled();
        let failed = link.failed.load(Ordering::Acquire);
        if !failed && (recalled || link.reservation.is_wanting(self.now().as_ms())) {
            self.request(link);
        }
    }

    /// Let the others give back the last hits of a link, and ask again until there are some or none are left.
    async fn recall_others(&self, link: &Arc<LinkReservation>) {
        self.recall_stale(link);
        metrics::counter!("kurz_quota_reservations_recalled_total").increment(1);
        let (since, mut step) = (Instant::now(), RECALL_STEP);
        while since.elapsed() < RECALL {
            sleep(step).await;
            step = (2 * step).min(RECALL_LONGEST_STEP);
            let next = self.exchange(std::slice::from_ref(link)).await;
            match next.as_deref() {
                Ok([NextStep::Contested]) if link.reservation.waiting() > 0 => {
                    link.done.notify_waiters();
                }
                Ok(_) => return self.release(link),
                Err(_) => {
                    link.failed.store(true, Ordering::Release);
                    return self.release(link);
                }
            }
        }
        let now = self.now();
        link.reservation.close(Month::of(now), now.as_ms() + UNANSWERED_MS);
        self.release(link);
    }

    /// Ask all instances, this one too, to give back what they hold of a link and to forget it.
    fn recall_stale(&self, link: &Arc<LinkReservation>) {
        self.peers.publish(Message::Recall(link.reservation.link().0));
        self.forget_later(link.reservation.link());
    }

    fn forget_later(&self, link: LinkId) {
        lock(&self.to_forget).entry(link).or_insert_with(Instant::now);
    }

    async fn drop_on(self: Arc<Self>) {
        let mut ticks = interval(DROP_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.drop_unused();
        }
    }

    /// Give back the hits of links that are not in the cache any more, and drop reservations that hold nothing.
    fn drop_unused(&self) {
        let (mut unused, mut waiting) = (Vec::new(), 0);
        let busy = |link: &LinkReservation| link.busy.load(Ordering::Acquire);
        lock(&self.links).retain(|_, link| {
            if Arc::strong_count(link) > 1 || busy(link) {
                return true;
            }
            if link.reservation.hits() == 0 {
                return false;
            }
            waiting += 1;
            if unused.len() < DROP_AT_ONCE {
                unused.push(Arc::clone(link));
            }
            waiting <= UNUSED
        });
        for link in unused {
            link.reservation.recall();
            self.request(&link);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every operation leaves the guarded value consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
