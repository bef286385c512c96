//! A link's monthly limit on several instances: the real reservations and the real counter, with a
//! network between them that loses, delays and repeats messages, instances that are killed, clocks that are
//! wrong and jump, and a Redis that is unreachable or loses its data. What `SharedQuota` of `kurz` does around the two
//! is simulated here.

use std::collections::{BTreeMap, BTreeSet};

use kurz_core::link::{LinkId, Month};
use kurz_core::quota::Reservation;
use kurz_core::quota::grant::{GrantCounter, GrantReply, GrantRequest};
use kurz_core::quota::reservation::Take;
use kurz_core::time::Timestamp;

use crate::rng::{Rng, Trace};

mod exchange;

/// Constants of `SharedQuota`, in milliseconds.
const SWEEP: i64 = 500;
const FLUSH: i64 = 250;

/// A deliberate defect, which must be detected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// The counter grants one hit more than the limit.
    OneMore,
    /// The counter does not recognise a repeated request: it counts twice.
    NoMemory,
    /// A lost counter starts from zero.
    EmptySeed,
}

enum Message {
    GrantRequest { from: String, to_life: u64, request: GrantRequest },
    GrantReply { to: String, request: GrantRequest, reply: GrantReply },
    Recall { to: String },
}

/// An exchange with the counter.
#[derive(Clone, Copy)]
struct Call {
    request: GrantRequest,
    seed: Option<u64>,
    recalled_at: Option<i64>,
    /// When the reply is late, or the next step is due.
    until: i64,
    sleeps: bool,
}

struct Instance {
    name: String,
    held: Reservation,
    /// Its clock minus the true time, and its estimate of Redis's clock minus its own.
    skew: i64,
    offset: i64,
    waiting: u64,
    call: Option<Call>,
    failures: u32,
    away_until: i64,
    unwritten: BTreeMap<i64, u64>,
    swept_at: i64,
    flushed_at: i64,
    /// The latest month that it sent a request for.
    asked: Option<Month>,
}

struct World<'a> {
    rng: &'a mut Rng,
    trace: &'a mut Trace,
    flaw: Flaw,
    at: i64,
    limit: u64,
    instances: Vec<Instance>,
    created: u64,
    messages: BTreeMap<(i64, u64), Message>,
    sent: u64,
    sound: bool,
    redis_skew: i64,
    redis_up: bool,
    /// Counts the restarts of Redis: messages sent before one do not arrive.
    redis_life: u64,
    counters: BTreeMap<i64, GrantCounter>,
    alive: BTreeSet<i64>,
    written: BTreeMap<i64, u64>,
    served: BTreeMap<i64, u64>,
    /// How many hits may be served in a month, given what was lost so far.
    bound: BTreeMap<i64, u64>,
    exact: bool,
}

/// Runs one world.
pub(crate) fn run(rng: &mut Rng, trace: &mut Trace, flaw: Flaw) -> Result<(), String> {
    let month = Month::from_number(24_315);
    let to_end = if rng.one_in(2) { rng.between(0, 20_000) } else { 86_400_000 };
    let limit = if rng.one_in(4) { rng.below(3) + 1 } else { rng.below(60) + 1 };
    let redis_skew = rng.between(-300_000, 300_000);
    let mut world = World {
        at: month.end().as_ms() - to_end - redis_skew,
        limit,
        instances: Vec::new(),
        created: 0,
        messages: BTreeMap::new(),
        sent: 0,
        sound: false,
        redis_skew,
        redis_up: true,
        redis_life: 0,
        counters: BTreeMap::new(),
        alive: BTreeSet::new(),
        written: BTreeMap::new(),
        served: BTreeMap::new(),
        bound: BTreeMap::new(),
        exact: true,
        rng,
        trace,
        flaw,
    };
    for _ in 0..world.rng.between(1, 4) {
        let fresh = world.start();
        world.instances.push(fresh);
    }
    for _ in 0..world.rng.between(20, 120) {
        let pause = if world.rng.one_in(30) { 5_000 } else { 60 };
        let until = world.at + world.rng.between(1, pause);
        world.pass(until)?;
        world.happen()?;
    }
    world.finish()
}

impl World<'_> {
    fn start(&mut self) -> Instance {
        self.created += 1;
        let month = Month::of(self.redis_now());
        let known = self.written.get(&month.number()).copied().unwrap_or_default();
        Instance {
            name: format!("i{}", self.created),
            held: Reservation::new(LinkId(1), month, known),
            skew: self.rng.between(-300_000, 300_000),
            offset: 0,
            waiting: 0,
            call: None,
            failures: 0,
            away_until: 0,
            unwritten: BTreeMap::new(),
            swept_at: self.at,
            flushed_at: self.at,
            asked: None,
        }
    }

    fn redis_now(&self) -> Timestamp {
        Timestamp::from_ms(self.at + self.redis_skew)
    }

    /// The time of Redis's clock as an instance estimates it.
    fn now(&self, one: usize) -> Timestamp {
        let instance = &self.instances[one];
        Timestamp::from_ms(self.at + instance.skew + instance.offset)
    }

    fn happen(&mut self) -> Result<(), String> {
        let one = self.rng.pick(self.instances.len());
        match self.rng.below(60) {
            0..48 => {
                for _ in 0..self.rng.between(1, 6) {
                    self.visit(one)?;
                }
            }
            48..50 => self.redis_up = !self.redis_up,
            50 => self.lose_counters(),
            51 => self.kill(one),
            52 => {
                self.exact = false;
                let by = if self.rng.one_in(2) { 300_000 } else { 86_400_000 };
                self.instances[one].skew += self.rng.between(-by, by);
                self.trace.note(self.at, "jump", &[i64::try_from(one).unwrap()]);
            }
            53 => self.stop(one)?,
            54..57 => {
                self.instances[one].held.recall();
                self.request(one);
            }
            _ => {}
        }
        Ok(())
    }

    /// Let time pass: messages arrive, waits time out, sweeps and flushes run.
    fn pass(&mut self, until: i64) -> Result<(), String> {
        while let Some(first) = self.messages.first_entry().filter(|first| first.key().0 <= until) {
            self.at = self.at.max(first.key().0);
            let message = first.remove();
            self.deliver(message)?;
        }
        self.at = until;
        for one in 0..self.instances.len() {
            if self.instances[one].call.is_some_and(|call| call.until <= until) {
                self.go_on(one);
            }
            let instance = &mut self.instances[one];
            if instance.flushed_at + FLUSH <= until {
                instance.flushed_at = until;
                for (month, hits) in std::mem::take(&mut instance.unwritten) {
                    *self.written.entry(month).or_default() += hits;
                }
            }
            if self.instances[one].swept_at + SWEEP <= until {
                self.instances[one].swept_at = until;
                self.sweep(one);
            }
        }
        Ok(())
    }

    fn post(&mut self, message: Message) {
        let (lost, twice) = (self.rng.one_in(12), self.rng.one_in(12));
        if lost && !self.sound {
            return;
        }
        let slow = !self.sound && self.rng.one_in(10);
        let delay = if slow { self.rng.between(5, 3_000) } else { self.rng.between(0, 4) };
        if let (Message::GrantRequest { from, to_life, request }, true) =
            (&message, twice && !self.sound)
        {
            let (from, to_life) = (from.clone(), *to_life);
            let again = Message::GrantRequest { from, to_life, request: *request };
            self.sent += 1;
            let late = self.at + self.rng.between(0, 8_000);
            self.messages.insert((late, self.sent), again);
        }
        self.sent += 1;
        self.messages.insert((self.at + delay, self.sent), message);
    }

    fn deliver(&mut self, message: Message) -> Result<(), String> {
        let find = |instances: &[Instance], name: &str| {
            instances.iter().position(|instance| instance.name == name)
        };
        match message {
            Message::GrantRequest { from, to_life, request } => {
                if self.redis_up && to_life == self.redis_life {
                    let reply = self.count(&from, &request);
                    self.post(Message::GrantReply { to: from, request, reply });
                }
            }
            Message::GrantReply { to, request, reply } => {
                if let Some(one) = find(&self.instances, &to) {
                    self.hear(one, &request, &reply)?;
                }
            }
            Message::Recall { to } => {
                if let Some(one) = find(&self.instances, &to) {
                    self.instances[one].held.recall();
                    self.request(one);
                }
            }
        }
        Ok(())
    }

    /// The script on Redis.
    fn count(&mut self, from: &str, request: &GrantRequest) -> GrantReply {
        let now = self.redis_now();
        let month = request.month.number();
        let mut request = *request;
        let seed = request.seed.unwrap_or_default();
        request.limit = request.limit.saturating_add(u64::from(self.flaw == Flaw::OneMore));
        if self.flaw == Flaw::EmptySeed {
            request.seed = request.seed.map(|_| 0);
        }
        let from = match self.flaw {
            Flaw::NoMemory => format!("{from}-{}", self.sent),
            _ => from.to_owned(),
        };
        let reply = self.counters.entry(month).or_default().answer(&from, &request, now);
        if matches!(reply, GrantReply::Counted(_)) && self.alive.insert(month) {
            self.begin(month, seed);
        }
        self.trace.note(self.at, "counted", &[month, i64::try_from(request.number).unwrap()]);
        reply
    }

    /// A counter starts from `seed`. Hits granted by an earlier counter of the month may still be served,
    /// and hits that were not in the store are not included.
    fn begin(&mut self, month: i64, seed: u64) {
        let served = self.served.get(&month).copied().unwrap_or_default();
        let left = self.limit.saturating_sub(seed);
        let mut bound = served + left;
        if self.bound.contains_key(&month) {
            let at = self.at;
            let held: u64 = self.instances.iter().map(|one| one.held.status(at).held).sum();
            let on_their_way = self.messages.values().map(|message| match message {
                Message::GrantReply { reply: GrantReply::Counted(counted), .. } => counted.grant,
                _ => 0,
            });
            bound += held + on_their_way.sum::<u64>();
        }
        self.bound.insert(month, bound);
    }

    fn visit(&mut self, one: usize) -> Result<(), String> {
        if self.take(one)? {
            self.instances[one].waiting += 1;
            self.request(one);
        }
        Ok(())
    }

    /// A visitor follows the link; whether they have to wait.
    fn take(&mut self, one: usize) -> Result<bool, String> {
        let now = self.now(one);
        let month = Month::of(now);
        let take = self.instances[one].held.take(month, self.limit, now.as_ms());
        if matches!(take, Take::Taken | Take::TakenLast) {
            let served = self.served.entry(month.number()).or_default();
            *served += 1;
            *self.instances[one].unwritten.entry(month.number()).or_default() += 1;
            let bound = self.bound.get(&month.number()).copied().unwrap_or_default();
            self.trace.note(self.at, "served", &[month.number(), i64::try_from(*served).unwrap()]);
            if *served > bound {
                return Err(format!(
                    "{served} served in {month}, at most {bound} of a limit of {}",
                    self.limit
                ));
            }
        }
        if take == Take::TakenLast {
            self.request(one);
        }
        Ok(take == Take::Ask)
    }

    fn is_away(&self, one: usize) -> bool {
        self.at < self.instances[one].away_until
    }

    fn lose_counters(&mut self) {
        self.exact = false;
        self.counters.clear();
        self.alive.clear();
        // Restarted, or emptied while it runs.
        self.redis_life += u64::from(self.rng.one_in(2));
        self.trace.note(self.at, "lost", &[]);
    }

    fn kill(&mut self, one: usize) {
        self.exact = false;
        self.instances[one] = self.start();
        self.trace.note(self.at, "kill", &[i64::try_from(one).unwrap()]);
    }

    /// An instance shuts down: it gives its hits back and writes its clicks.
    fn stop(&mut self, one: usize) -> Result<(), String> {
        self.serve_waiting(one)?;
        let now = self.now(one);
        for _ in 0..2 {
            self.instances[one].held.recall();
            let request = self.instances[one].held.request(Month::of(now), 3, None, now.as_ms());
            if !self.redis_up || self.is_away(one) {
                self.exact = false;
                break;
            }
            let name = self.instances[one].name.clone();
            let reply = self.count(&name, &request);
            // The month is over or the counter is lost: the hits cannot be used any more.
            self.exact &= matches!(reply, GrantReply::Counted(_));
            self.instances[one].held.settle(&request, &reply, now.as_ms());
        }
        for (month, hits) in std::mem::take(&mut self.instances[one].unwritten) {
            *self.written.entry(month).or_default() += hits;
        }
        self.instances[one] = self.start();
        self.trace.note(self.at, "stop", &[i64::try_from(one).unwrap()]);
        Ok(())
    }

    /// Without further faults: visitors come to all instances until all are refused; then exactly the limit was
    /// served, if nothing was lost before.
    fn finish(mut self) -> Result<(), String> {
        (self.sound, self.redis_up) = (true, true);
        for _ in 0..60 {
            let until = self.at + 500;
            self.pass(until)?;
        }
        for _ in 0..20 * self.limit + 400 {
            let until = self.at + 3;
            self.pass(until)?;
            let mut refused = true;
            for one in 0..self.instances.len() {
                self.visit(one)?;
                let instance = &self.instances[one];
                refused &= instance.call.is_none() && instance.waiting == 0;
                let now = self.now(one);
                let room = instance.held.has_room(Month::of(now), self.limit, now.as_ms());
                refused &= room == Some(false);
            }
            if refused {
                return self.is_exact();
            }
        }
        Err("visitors are never refused".to_owned())
    }

    fn is_exact(&self) -> Result<(), String> {
        let month = Month::of(self.redis_now()).number();
        let served = self.served.get(&month).copied().unwrap_or_default();
        if self.exact && served != self.limit {
            return Err(format!("{served} of {} served, though nothing was lost", self.limit));
        }
        Ok(())
    }
}
