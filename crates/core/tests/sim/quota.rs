//! A link's monthly limit on several instances: the real reservations and the real rules of the row, with a
//! connection between them that loses requests and replies and is slow, instances that are killed or stand still,
//! clocks that are wrong, and a database that is unreachable. What `SharedQuota` of `kurz` does around the two
//! is simulated here.

use std::collections::BTreeMap;

use kurz_core::link::{LinkId, Month};
use kurz_core::quota::Reservation;
use kurz_core::quota::grant::{GrantReply, GrantRequest, InstanceBit, Members, QuotaRow};
use kurz_core::quota::reservation::{NextStep, Take};
use kurz_core::time::Timestamp;

use crate::rng::{Rng, Trace};

const LINK: LinkId = LinkId(1);
/// Constants of `SharedQuota` and the click writer, in milliseconds.
const FLUSH: i64 = 250;
const RENEW: i64 = 5_000;
const VALID: i64 = 30_000;
const SILENT: i64 = 45_000;
const SETTLED: i64 = 1_000;

/// A deliberate defect, which must be detected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// One hit more than the limit is granted.
    OneMore,
    /// Hits are granted anew while an instance that runs has clicks that are not counted.
    NoWriters,
    /// An instance that stood still goes on with hits that others were granted meanwhile.
    NoFence,
}

/// A request on its way to the database, or its reply on the way back.
#[derive(Clone, Copy)]
struct Message {
    instance: u64,
    request: GrantRequest,
    way: Way,
}

#[derive(Clone, Copy)]
enum Way {
    There,
    Back(Option<GrantReply>),
}

struct Instance {
    /// Not used again when it is killed.
    number: u64,
    bit: i64,
    members: Members,
    held: Reservation,
    /// Its estimate of the database's clock minus that clock.
    skew: i64,
    waiting: u64,
    /// Until when it waits for a reply.
    asks_until: Option<i64>,
    unwritten: BTreeMap<i64, u64>,
    /// Since when it holds nothing, if it was told to forget the link.
    forgets_since: Option<i64>,
    flushed_at: i64,
    renewed_at: i64,
    /// Nothing of it runs until then.
    stands_until: i64,
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
    is_up: bool,
    row: QuotaRow,
    /// The bits that are taken: by whom, and when that one was last heard from.
    bits: BTreeMap<i64, (u64, i64)>,
    served: BTreeMap<i64, u64>,
    /// Clicks that were lost with their instance, by month.
    lost: BTreeMap<i64, u64>,
}

/// Runs one world.
pub(crate) fn run(rng: &mut Rng, trace: &mut Trace, flaw: Flaw) -> Result<(), String> {
    let month = Month::from_number(24_315);
    let to_end = if rng.one_in(3) { rng.between(0, 60_000) } else { 86_400_000 };
    let limit = if rng.one_in(4) { rng.below(3) + 1 } else { rng.below(60) + 1 };
    let at = month.end().as_ms() - to_end;
    let mut world = World {
        at,
        limit,
        instances: Vec::new(),
        created: 0,
        messages: BTreeMap::new(),
        sent: 0,
        sound: false,
        is_up: true,
        row: QuotaRow::new(month),
        bits: BTreeMap::new(),
        served: BTreeMap::new(),
        lost: BTreeMap::new(),
        rng,
        trace,
        flaw,
    };
    for _ in 0..world.rng.between(1, 4) {
        let fresh = world.start();
        world.instances.push(fresh);
    }
    for _ in 0..world.rng.between(20, 120) {
        let pause = if world.rng.one_in(20) { 20_000 } else { 60 };
        let until = world.at + world.rng.between(1, pause);
        world.pass(until)?;
        world.happen()?;
    }
    world.finish()
}

impl World<'_> {
    fn start(&mut self) -> Instance {
        self.created += 1;
        let mut instance = Instance {
            number: self.created,
            bit: 0,
            members: Members { own: InstanceBit::SHARED, count: 1 },
            held: Reservation::new(LINK),
            skew: self.rng.between(-40, 40),
            waiting: 0,
            asks_until: None,
            unwritten: BTreeMap::new(),
            forgets_since: None,
            flushed_at: self.at,
            renewed_at: self.at,
            stands_until: self.at,
        };
        self.join(&mut instance);
        instance
    }

    fn join(&mut self, instance: &mut Instance) {
        let bit = InstanceBit::first_free(self.live()).bits();
        self.bits.insert(bit, (instance.number, self.at));
        instance.bit = bit;
        instance.members = self.members(bit);
        instance.renewed_at = self.at;
    }

    fn members(&self, bit: i64) -> Members {
        let count = self.bits.len().try_into().unwrap();
        Members { own: InstanceBit::of_column(Some(bit)), count }
    }

    /// The bits of all that run, as the database knows.
    fn live(&self) -> i64 {
        self.bits.keys().fold(0, |live, bit| live | bit)
    }

    fn now(&self, one: usize) -> Timestamp {
        Timestamp::from_ms(self.at + self.instances[one].skew)
    }

    fn stands(&self, one: usize) -> bool {
        self.at < self.instances[one].stands_until
    }

    fn happen(&mut self) -> Result<(), String> {
        let one = self.rng.pick(self.instances.len());
        match self.rng.below(60) {
            0..48 => {
                for _ in 0..self.rng.between(1, 6) {
                    self.visit(one)?;
                }
            }
            48..50 => self.is_up = !self.is_up,
            50 => self.kill(one),
            51 => self.stop(one),
            52 => {
                self.instances[one].stands_until = self.at + self.rng.between(1, 90_000);
                self.trace.note(self.at, "stand", &[i64::try_from(one).unwrap()]);
            }
            53..57 => self.recall_all(),
            _ => {}
        }
        Ok(())
    }

    /// Let time pass: messages arrive, waits time out, clicks are written, instances say that they run.
    fn pass(&mut self, until: i64) -> Result<(), String> {
        while let Some(first) = self.messages.first_entry().filter(|first| first.key().0 <= until) {
            self.at = self.at.max(first.key().0);
            let message = first.remove();
            self.deliver(message)?;
        }
        self.at = self.at.max(until);
        for one in 0..self.instances.len() {
            if self.stands(one) {
                continue;
            }
            self.renew(one);
            self.flush(one);
            if self.instances[one].asks_until.is_some_and(|late| late <= self.at) {
                let instance = &mut self.instances[one];
                (instance.asks_until, instance.waiting) = (None, 0);
            }
        }
        Ok(())
    }

    fn deliver(&mut self, message: Message) -> Result<(), String> {
        let Message { instance, request, way } = message;
        let one = self.instances.iter().position(|one| one.number == instance);
        let Way::Back(reply) = way else {
            if !self.is_up {
                return Ok(());
            }
            let Some(one) = one else { return Ok(()) };
            let members = self.instances[one].members;
            let reply = self.answer(members, &request);
            self.post(Message { instance, request, way: Way::Back(reply) });
            return Ok(());
        };
        let Some(one) = one.filter(|one| self.instances[*one].asks_until.is_some()) else {
            return Ok(());
        };
        if self.stands(one) {
            // It is read when the instance goes on; whether its hits are void is known by then.
            self.instances[one].asks_until = None;
            return Ok(());
        }
        let at = self.now(one).as_ms();
        let next = if request.asks() {
            self.instances[one].held.settle(&request, reply.as_ref(), at)
        } else {
            NextStep::Done
        };
        self.instances[one].asks_until = None;
        if request.back.is_some() {
            self.instances[one].forgets_since.get_or_insert(self.at);
        }
        self.serve_waiting(one)?;
        if matches!(next, NextStep::Contested | NextStep::Over { stale: true }) {
            self.recall_all();
        }
        Ok(())
    }

    /// The rules of the row, or broken ones.
    fn answer(&mut self, members: Members, request: &GrantRequest) -> Option<GrantReply> {
        let mut request = *request;
        if self.flaw == Flaw::OneMore {
            request.limit = request.limit.saturating_add(1);
        }
        if self.flaw == Flaw::NoWriters {
            self.row.writers = 0;
        }
        let reply = self.row.answer(members, self.live(), &request);
        let granted = reply.map_or(-1, |reply| i64::try_from(reply.granted).unwrap());
        self.trace.note(self.at, "asked", &[members.own.bits(), request.month.number(), granted]);
        reply
    }

    fn post(&mut self, message: Message) {
        if !self.sound && self.rng.one_in(12) {
            return;
        }
        let slow = !self.sound && self.rng.one_in(10);
        let delay = if slow { self.rng.between(5, 1_500) } else { self.rng.between(0, 4) };
        self.sent += 1;
        self.messages.insert((self.at + delay, self.sent), message);
    }

    fn ask(&mut self, one: usize) {
        if self.instances[one].asks_until.is_some() || self.stands(one) {
            return;
        }
        let (now, limit, until) = (self.now(one), self.limit, self.at + 2_000);
        let instance = &mut self.instances[one];
        let waiting: Vec<_> = (0..instance.waiting).map(|_| instance.held.wait(limit)).collect();
        let request = instance.held.request(Month::of(now), now.as_ms());
        drop(waiting);
        instance.asks_until = Some(until);
        let number = instance.number;
        self.post(Message { instance: number, request, way: Way::There });
    }

    fn visit(&mut self, one: usize) -> Result<(), String> {
        if !self.stands(one) && self.take(one)? {
            self.instances[one].waiting += 1;
            self.ask(one);
        }
        Ok(())
    }

    /// Serve a visitor if a hit is held; whether one has to ask.
    fn take(&mut self, one: usize) -> Result<bool, String> {
        let is_valid = self.at < self.instances[one].renewed_at + VALID;
        if !is_valid && self.is_up && self.flaw != Flaw::NoFence {
            self.renew_now(one);
        }
        let now = self.now(one);
        let month = Month::of(now);
        let taken = self.instances[one].held.take(month, self.limit, now.as_ms());
        match taken {
            Take::Taken | Take::TakenLast => {
                *self.instances[one].unwritten.entry(month.number()).or_default() += 1;
                self.trace.note(self.at, "served", &[i64::try_from(one).unwrap(), month.number()]);
                let served = self.served.entry(month.number()).or_default();
                *served += 1;
                let lost = self.lost.get(&month.number()).copied().unwrap_or_default();
                if *served > self.limit + lost {
                    return Err(format!("{served} of a limit of {} were served", self.limit));
                }
                if taken == Take::TakenLast {
                    self.ask(one);
                }
                Ok(false)
            }
            Take::Ask => Ok(true),
            Take::Over => Ok(false),
        }
    }

    fn serve_waiting(&mut self, one: usize) -> Result<(), String> {
        for _ in 0..std::mem::take(&mut self.instances[one].waiting) {
            self.visit(one)?;
        }
        Ok(())
    }

    fn renew(&mut self, one: usize) {
        if self.at >= self.instances[one].renewed_at + RENEW && self.is_up {
            self.renew_now(one);
        }
    }

    fn renew_now(&mut self, one: usize) {
        let at = self.at;
        // Only an instance that reaches the database can take others for ended ones, and after an outage they
        // get the time to say that they run.
        let (bit, number) = (self.instances[one].bit, self.instances[one].number);
        if let Some((_, heard)) = self.bits.get_mut(&bit).filter(|(holder, _)| *holder == number) {
            *heard = at;
            self.release_silent();
            let members = self.members(bit);
            let instance = &mut self.instances[one];
            (instance.members, instance.renewed_at) = (members, at);
            return;
        }
        self.trace.note(at, "fenced", &[i64::try_from(one).unwrap()]);
        // When its clicks are counted after all, others' hits count as used.
        for (month, hits) in &self.instances[one].unwritten {
            *self.lost.entry(*month).or_default() += hits;
        }
        if self.flaw != Flaw::NoFence {
            self.instances[one].held.clear();
            // A reply that is still on its way is of hits that others may have been granted.
            self.instances[one].asks_until = None;
        }
        self.created += 1;
        self.instances[one].number = self.created;
        let bit = InstanceBit::first_free(self.live()).bits();
        self.bits.insert(bit, (self.created, at));
        let members = self.members(bit);
        let instance = &mut self.instances[one];
        (instance.bit, instance.members, instance.renewed_at) = (bit, members, at);
    }

    /// Take those that were silent for ended ones: clicks that they have not written count as lost.
    fn release_silent(&mut self) {
        let at = self.at;
        let silent = |(_, heard): &(u64, i64)| at - *heard > SILENT;
        for (number, _) in self.bits.values().filter(|one| silent(one)) {
            let gone = self.instances.iter().find(|one| one.number == *number);
            for (month, hits) in gone.iter().flat_map(|gone| &gone.unwritten) {
                *self.lost.entry(*month).or_default() += hits;
            }
        }
        self.bits.retain(|_, one| !silent(one));
    }

    fn flush(&mut self, one: usize) {
        if !self.is_up || self.instances[one].flushed_at + FLUSH > self.at {
            return;
        }
        self.instances[one].flushed_at = self.at;
        for (month, hits) in std::mem::take(&mut self.instances[one].unwritten) {
            self.row.count(Month::from_number(month), hits, hits);
        }
        let (at, now) = (self.at, self.now(one));
        let instance = &mut self.instances[one];
        let due = instance.forgets_since.is_some_and(|since| since + SETTLED <= at);
        if due && instance.asks_until.is_none() {
            instance.forgets_since = None;
            if instance.held.hits() == 0 {
                let own = instance.members.own;
                self.trace.note(at, "forget", &[own.bits()]);
                self.row.forget(own, Month::of(now));
            }
        }
    }

    /// All instances give back what they hold.
    fn recall_all(&mut self) {
        for one in 0..self.instances.len() {
            if self.stands(one) || (!self.sound && self.rng.one_in(12)) {
                continue;
            }
            self.instances[one].held.recall();
            self.instances[one].forgets_since.get_or_insert(self.at);
            self.ask(one);
        }
    }

    fn kill(&mut self, one: usize) {
        for (month, hits) in std::mem::take(&mut self.instances[one].unwritten) {
            *self.lost.entry(month).or_default() += hits;
        }
        self.instances[one] = self.start();
        self.trace.note(self.at, "kill", &[i64::try_from(one).unwrap()]);
    }

    /// An instance shuts down: it writes its clicks, gives its hits back and leaves its slot.
    fn stop(&mut self, one: usize) {
        if !self.is_up || self.stands(one) {
            return self.kill(one);
        }
        for (month, hits) in std::mem::take(&mut self.instances[one].unwritten) {
            self.row.count(Month::from_number(month), hits, hits);
        }
        self.instances[one].held.recall();
        let now = self.now(one);
        let request = self.instances[one].held.request(Month::of(now), now.as_ms());
        let members = self.instances[one].members;
        if request.asks() || request.back.is_some() {
            self.row.give_back(members.own, request.month, request.back.unwrap_or_default());
        }
        let Instance { bit, number, .. } = self.instances[one];
        self.bits.retain(|taken, (holder, _)| *taken != bit || *holder != number);
        self.instances[one] = self.start();
        self.trace.note(self.at, "stop", &[i64::try_from(one).unwrap()]);
    }

    /// Without further faults: visitors come to all instances until all are refused; then the limit was
    /// served, with what was lost.
    fn finish(mut self) -> Result<(), String> {
        (self.sound, self.is_up) = (true, true);
        let longest = self.instances.iter().map(|one| one.stands_until).max().unwrap_or_default();
        while self.at < longest {
            let until = self.at + 1_000;
            self.pass(until)?;
        }
        // Long enough to notice those that were killed.
        for _ in 0..60 {
            let until = self.at + 1_000;
            self.pass(until)?;
        }
        let mut refused = 0;
        for _ in 0..40 * self.limit + 4_000 {
            let until = self.at + 200;
            self.pass(until)?;
            let before: u64 = self.served.values().sum();
            for one in 0..self.instances.len() {
                self.visit(one)?;
            }
            refused = if self.served.values().sum::<u64>() > before { 0 } else { refused + 1 };
            if refused > 25 {
                return self.is_used_up();
            }
        }
        Err("visitors are never refused".to_owned())
    }

    fn is_used_up(&self) -> Result<(), String> {
        let month = Month::of(Timestamp::from_ms(self.at)).number();
        let served = self.served.get(&month).copied().unwrap_or_default();
        if served < self.limit {
            return Err(format!("{served} of {} served, and visitors are refused", self.limit));
        }
        Ok(())
    }
}
