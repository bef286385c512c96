//! A link's monthly limit on several instances: the real reservations and the real counter, with a
//! network between them that loses, delays and repeats, instances that are killed, clocks that are
//! wrong and jump, and a Redis that is away or forgets. What the ledger does around the two is played
//! here as `ledger/shared.rs` does it.

use std::collections::{BTreeMap, BTreeSet};

use kurz_core::link::{LinkId, Month};
use kurz_core::quota::Reservation;
use kurz_core::quota::grant::{GrantCounter, GrantReply, GrantRequest};
use kurz_core::quota::reservation::Take;
use kurz_core::time::Timestamp;

use crate::dice::{Dice, Story};

mod talk;

/// What the ledger's constants come to, in milliseconds.
const SWEEP: i64 = 500;
const FLUSH: i64 = 250;

/// What is broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// The counter lets one hit more than the limit.
    OneMore,
    /// The counter does not remember what it answered: a request that comes twice counts twice.
    NoMemory,
    /// A counter that was lost begins with nothing.
    EmptySeed,
}

enum Letter {
    GrantRequest { from: String, to_life: u64, request: GrantRequest },
    GrantReply { to: String, request: GrantRequest, reply: GrantReply },
    Recall { to: String },
}

/// A conversation with the counter.
#[derive(Clone, Copy)]
struct Call {
    request: GrantRequest,
    seed: Option<u64>,
    recalled_at: Option<i64>,
    /// When the answer is late, or the time to go on.
    until: i64,
    sleeps: bool,
}

struct Instance {
    name: String,
    held: Reservation,
    /// Its clock minus the true time, and Redis's minus its own as far as it knows.
    skew: i64,
    offset: i64,
    waiting: u64,
    call: Option<Call>,
    failures: u32,
    away_until: i64,
    unwritten: BTreeMap<i64, u64>,
    swept_at: i64,
    flushed_at: i64,
    /// The latest month that it asked about.
    asked: Option<Month>,
}

struct World<'a> {
    dice: &'a mut Dice,
    story: &'a mut Story,
    flaw: Flaw,
    at: i64,
    limit: u64,
    instances: Vec<Instance>,
    created: u64,
    letters: BTreeMap<(i64, u64), Letter>,
    sent: u64,
    sound: bool,
    redis_skew: i64,
    redis_up: bool,
    /// Which life of Redis this is: what was sent to another does not arrive.
    redis_life: u64,
    counters: BTreeMap<i64, GrantCounter>,
    alive: BTreeSet<i64>,
    written: BTreeMap<i64, u64>,
    served: BTreeMap<i64, u64>,
    /// How many may be served in a month, given what was lost so far.
    bound: BTreeMap<i64, u64>,
    exact: bool,
}

/// One world.
pub(crate) fn run(dice: &mut Dice, story: &mut Story, flaw: Flaw) -> Result<(), String> {
    let month = Month::from_number(24_315);
    let to_end = if dice.one_in(2) { dice.between(0, 20_000) } else { 86_400_000 };
    let limit = if dice.one_in(4) { dice.below(3) + 1 } else { dice.below(60) + 1 };
    let redis_skew = dice.between(-300_000, 300_000);
    let mut world = World {
        at: month.end().as_ms() - to_end - redis_skew,
        limit,
        instances: Vec::new(),
        created: 0,
        letters: BTreeMap::new(),
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
        dice,
        story,
        flaw,
    };
    for _ in 0..world.dice.between(1, 4) {
        let fresh = world.start();
        world.instances.push(fresh);
    }
    for _ in 0..world.dice.between(20, 120) {
        let pause = if world.dice.one_in(30) { 5_000 } else { 60 };
        let until = world.at + world.dice.between(1, pause);
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
            skew: self.dice.between(-300_000, 300_000),
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

    /// What time it is for an instance, by Redis's clock as it knows it.
    fn now(&self, one: usize) -> Timestamp {
        let instance = &self.instances[one];
        Timestamp::from_ms(self.at + instance.skew + instance.offset)
    }

    fn happen(&mut self) -> Result<(), String> {
        let one = self.dice.pick(self.instances.len());
        match self.dice.below(60) {
            0..48 => {
                for _ in 0..self.dice.between(1, 6) {
                    self.visit(one)?;
                }
            }
            48..50 => self.redis_up = !self.redis_up,
            50 => self.lose_counters(),
            51 => self.kill(one),
            52 => {
                self.exact = false;
                let by = if self.dice.one_in(2) { 300_000 } else { 86_400_000 };
                self.instances[one].skew += self.dice.between(-by, by);
                self.story.note(self.at, "jump", &[i64::try_from(one).unwrap()]);
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

    /// Let time pass: letters arrive, patience ends, sweeps and flushes come.
    fn pass(&mut self, until: i64) -> Result<(), String> {
        while let Some(first) = self.letters.first_entry().filter(|first| first.key().0 <= until) {
            self.at = self.at.max(first.key().0);
            let letter = first.remove();
            self.deliver(letter)?;
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

    fn post(&mut self, letter: Letter) {
        let (lost, twice) = (self.dice.one_in(12), self.dice.one_in(12));
        if lost && !self.sound {
            return;
        }
        let slow = !self.sound && self.dice.one_in(10);
        let delay = if slow { self.dice.between(5, 3_000) } else { self.dice.between(0, 4) };
        if let (Letter::GrantRequest { from, to_life, request }, true) =
            (&letter, twice && !self.sound)
        {
            let (from, to_life) = (from.clone(), *to_life);
            let again = Letter::GrantRequest { from, to_life, request: *request };
            self.sent += 1;
            let late = self.at + self.dice.between(0, 8_000);
            self.letters.insert((late, self.sent), again);
        }
        self.sent += 1;
        self.letters.insert((self.at + delay, self.sent), letter);
    }

    fn deliver(&mut self, letter: Letter) -> Result<(), String> {
        let find = |instances: &[Instance], name: &str| {
            instances.iter().position(|instance| instance.name == name)
        };
        match letter {
            Letter::GrantRequest { from, to_life, request } => {
                if self.redis_up && to_life == self.redis_life {
                    let reply = self.count(&from, &request);
                    self.post(Letter::GrantReply { to: from, request, reply });
                }
            }
            Letter::GrantReply { to, request, reply } => {
                if let Some(one) = find(&self.instances, &to) {
                    self.hear(one, &request, &reply)?;
                }
            }
            Letter::Recall { to } => {
                if let Some(one) = find(&self.instances, &to) {
                    self.instances[one].held.recall();
                    self.request(one);
                }
            }
        }
        Ok(())
    }

    /// What the script on Redis does.
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
        self.story.note(self.at, "counted", &[month, i64::try_from(request.number).unwrap()]);
        reply
    }

    /// A counter begins with `seed`. What an earlier one of the month had granted may still be served,
    /// and what the store did not know is not in it.
    fn begin(&mut self, month: i64, seed: u64) {
        let served = self.served.get(&month).copied().unwrap_or_default();
        let left = self.limit.saturating_sub(seed);
        let mut bound = served + left;
        if self.bound.contains_key(&month) {
            let at = self.at;
            let held: u64 = self.instances.iter().map(|one| one.held.status(at).held).sum();
            let on_their_way = self.letters.values().map(|letter| match letter {
                Letter::GrantReply { reply: GrantReply::Counted(counted), .. } => counted.grant,
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

    /// Somebody follows the link; whether they have to wait.
    fn take(&mut self, one: usize) -> Result<bool, String> {
        let now = self.now(one);
        let month = Month::of(now);
        let take = self.instances[one].held.take(month, self.limit, now.as_ms());
        if matches!(take, Take::Taken | Take::TakenLast) {
            let served = self.served.entry(month.number()).or_default();
            *served += 1;
            *self.instances[one].unwritten.entry(month.number()).or_default() += 1;
            let bound = self.bound.get(&month.number()).copied().unwrap_or_default();
            self.story.note(self.at, "served", &[month.number(), i64::try_from(*served).unwrap()]);
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
        // Started anew, or emptied while it runs.
        self.redis_life += u64::from(self.dice.one_in(2));
        self.story.note(self.at, "lost", &[]);
    }

    fn kill(&mut self, one: usize) {
        self.exact = false;
        self.instances[one] = self.start();
        self.story.note(self.at, "kill", &[i64::try_from(one).unwrap()]);
    }

    /// An instance is told to end: it gives back and writes down what it has.
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
            // A month, or a counter, that is not there any more: what was held is worth nothing.
            self.exact &= matches!(reply, GrantReply::Counted(_));
            self.instances[one].held.settle(&request, &reply, now.as_ms());
        }
        for (month, hits) in std::mem::take(&mut self.instances[one].unwritten) {
            *self.written.entry(month).or_default() += hits;
        }
        self.instances[one] = self.start();
        self.story.note(self.at, "stop", &[i64::try_from(one).unwrap()]);
        Ok(())
    }

    /// The faults are over: visitors come everywhere until everybody is refused, and then exactly the
    /// limit was served, if nothing was lost before.
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
            return Err(format!("{served} of {} served, and nothing was lost", self.limit));
        }
        Ok(())
    }
}
