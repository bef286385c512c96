//! The exchange of an instance with the counter: when it sends a request, how long it waits, what it does with a
//! reply. As `SharedQuota` of `kurz` does it, with the same times.

use kurz_core::link::Month;
use kurz_core::quota::grant::{GrantReply, GrantRequest};
use kurz_core::quota::reservation::NextStep;
use kurz_core::time::Timestamp;

use super::{Call, Message, World};

/// Constants of `SharedQuota`, in milliseconds.
const BUDGET: i64 = 20;
const AWAY: i64 = 1_000;
const FAILURES: u32 = 5;
const RECALL: i64 = 1_000;
const LOST: i64 = 10_000;
const WRITTEN_AFTER: i64 = 500;
const REPORT: i64 = 2_000;
const IDLE: i64 = 10_000;

impl World<'_> {
    pub(super) fn request(&mut self, one: usize) {
        if self.instances[one].call.is_some() {
            return;
        }
        if self.is_away(one) {
            // Without a reply they are refused, as with `on_outage = "share"`.
            self.instances[one].waiting = 0;
            return;
        }
        self.put(one, None, None);
    }

    pub(super) fn put(&mut self, one: usize, seed: Option<u64>, since: Option<i64>) {
        let now = self.now(one);
        let peers = u64::try_from(self.instances.len()).unwrap();
        let (is_away, limit, at) = (self.is_away(one), self.limit, self.at);
        let instance = &mut self.instances[one];
        // The estimate of Redis's clock can go back by as long as a reply took. At the end of a month,
        // hits of the new month are lost by that: fewer are served, never more.
        self.exact &= instance.asked.is_none_or(|before| before <= Month::of(now));
        instance.asked = instance.asked.max(Some(Month::of(now)));
        let waiting: Vec<_> = (0..instance.waiting).map(|_| instance.held.wait(limit)).collect();
        let request = instance.held.request(Month::of(now), peers, seed, now.as_ms());
        drop(waiting);
        if is_away {
            instance.held.unsent(&request);
            (instance.call, instance.waiting) = (None, 0);
            return;
        }
        instance.held.sending();
        let until = at + BUDGET;
        instance.call = Some(Call { request, seed, recalled_at: since, until, sleeps: false });
        let from = instance.name.clone();
        self.post(Message::GrantRequest { from, to_life: self.redis_life, request });
    }

    /// The reply is late, or the next step is due.
    pub(super) fn go_on(&mut self, one: usize) {
        let Some(call) = self.instances[one].call else { return };
        if call.sleeps {
            let month = call.request.month.number();
            let seed = call.recalled_at.is_none().then(|| {
                // After reading the hits from the store.
                self.written.get(&month).copied().unwrap_or_default()
            });
            self.put(one, seed.or(call.seed), call.recalled_at);
            return;
        }
        let at = self.at;
        let instance = &mut self.instances[one];
        instance.failures += 1;
        if instance.failures >= FAILURES {
            (instance.failures, instance.away_until) = (0, at + AWAY);
        }
        if self.is_away(one) || self.instances[one].waiting == 0 {
            let instance = &mut self.instances[one];
            (instance.call, instance.waiting) = (None, 0);
            return;
        }
        self.put(one, call.seed, call.recalled_at);
    }

    pub(super) fn hear(
        &mut self,
        one: usize,
        request: &GrantRequest,
        reply: &GrantReply,
    ) -> Result<(), String> {
        let Some(call) = self.instances[one].call else { return Ok(()) };
        // A late reply is ignored.
        if call.sleeps || call.request != *request {
            return Ok(());
        }
        let (GrantReply::NoCounter { now } | GrantReply::OtherMonth { now }) = *reply else {
            let GrantReply::Counted(counted) = reply else { return Ok(()) };
            return self.settle(one, call, request, reply, counted.now);
        };
        self.settle(one, call, request, reply, now)
    }

    fn settle(
        &mut self,
        one: usize,
        call: Call,
        request: &GrantRequest,
        reply: &GrantReply,
        redis_now: Timestamp,
    ) -> Result<(), String> {
        let at = self.at;
        let instance = &mut self.instances[one];
        instance.offset = redis_now.as_ms() - (at + instance.skew);
        instance.failures = 0;
        let now = self.now(one);
        let next = self.instances[one].held.settle(request, reply, now.as_ms());
        self.serve_waiting(one)?;
        match next {
            NextStep::Again => {
                self.put(one, call.seed, call.recalled_at);
                Ok(())
            }
            NextStep::Seed => {
                let unreported = self.instances[one].held.unreported(request.month) > 0;
                self.sleep(one, call, if unreported { WRITTEN_AFTER } else { 2 }, None);
                Ok(())
            }
            NextStep::Contested if self.instances[one].waiting > 0 => {
                let since = call.recalled_at.unwrap_or(at);
                if call.recalled_at.is_none() {
                    let all: Vec<_> = self.instances.iter().map(|one| one.name.clone()).collect();
                    for to in all {
                        self.post(Message::Recall { to });
                    }
                }
                if at - since >= RECALL {
                    self.instances[one].held.close(request.month, now.as_ms() + LOST);
                    return self.end(one);
                }
                self.sleep(one, call, 30, Some(since));
                Ok(())
            }
            NextStep::Done | NextStep::Contested => self.end(one),
        }
    }

    fn sleep(&mut self, one: usize, call: Call, ms: i64, recalled_at: Option<i64>) {
        let until = self.at + ms;
        self.instances[one].call = Some(Call { until, sleeps: true, recalled_at, ..call });
    }

    fn end(&mut self, one: usize) -> Result<(), String> {
        self.serve_waiting(one)?;
        self.instances[one].call = None;
        let recalled = self.instances[one].held.is_recalled();
        if recalled || self.instances[one].waiting > 0 {
            self.request(one);
        }
        Ok(())
    }

    pub(super) fn serve_waiting(&mut self, one: usize) -> Result<(), String> {
        for _ in 0..std::mem::take(&mut self.instances[one].waiting) {
            if self.take(one)? {
                self.instances[one].waiting += 1;
            }
        }
        Ok(())
    }

    pub(super) fn sweep(&mut self, one: usize) {
        let now = self.now(one).as_ms();
        let instance = &self.instances[one];
        let status = instance.held.status(now);
        let is_idle = status.idle_ms >= IDLE && instance.waiting == 0;
        let is_due = status.held > 0 && status.used && status.silent_ms >= REPORT;
        if is_idle && status.held > 0 {
            instance.held.recall();
        }
        if (is_idle && (status.held > 0 || status.unanswered)) || is_due {
            self.request(one);
        }
    }
}
