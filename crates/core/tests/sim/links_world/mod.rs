//! Links, their lifecycle and their cleanup: the real group commit, lock rules and redirect decision over a
//! simulated store in memory. Power fails, transactions fail, messages are delayed or lost, holders of
//! the lock are suspended for longer than they may hold it, clocks differ and jump.

use std::collections::BTreeMap;

use kurz_core::group_commit::{GroupCommit, RolledBack, TransactionResult};
use kurz_core::link::{Decision, Validity};
use kurz_core::time::{LatestTime, Timestamp};

use crate::rng::{Rng, Trace};

mod table;

use table::{Link, State, Step};

const MINUTE: i64 = 60_000;
const AT_LEAST: i64 = 10 * MINUTE;
const LIFE: i64 = 20 * MINUTE;

/// A deliberate defect, which must be detected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// The disk acknowledges writes that are not durable.
    NoSync,
    /// Batches of an instance are accepted though it lost the lock.
    NoFence,
    /// A purge does not check again whether the link is still deleted or expired.
    PurgeUnchecked,
    /// A claim does not check whether the link was claimed before.
    ClaimUnchecked,
}

/// A batch of an instance; with `whole`, every step must return a row.
#[derive(Clone, Debug)]
struct Batch {
    from: usize,
    steps: Vec<Step>,
    whole: bool,
}

/// The row of each step, if it returned one.
type Rows = Vec<Option<i64>>;

enum Message {
    Ask(Batch),
    Answer(Batch, Result<Rows, ()>),
}

struct Instance {
    /// How far its clock is from the real time.
    skew: i64,
    latest: LatestTime,
    /// Since when it has the lock, and the stage of its cleanup.
    holds: Option<i64>,
    stage: u8,
    /// Links to be purged.
    due: Vec<i64>,
    /// Links that it answered as gone, with their version.
    gone: BTreeMap<i64, u64>,
}

struct World<'a> {
    rng: &'a mut Rng,
    trace: &'a mut Trace,
    flaw: Flaw,
    at: i64,
    db_skew: i64,
    instances: Vec<Instance>,
    messages: BTreeMap<(i64, u64), Message>,
    sent: u64,
    group: GroupCommit<Batch>,
    state: State,
    synced: State,
    tokens: Vec<(i64, i64)>,
    /// What was acknowledged: the URL of each code, the owner of each link.
    urls: BTreeMap<i64, i64>,
    owners: BTreeMap<i64, i64>,
    /// The last instance that took the lock, and when, by the clock of the database.
    taken: Option<(String, i64)>,
}

/// Runs one world.
pub(crate) fn run(rng: &mut Rng, trace: &mut Trace, flaw: Flaw) -> Result<(), String> {
    let mut world = World {
        at: 1_773_576_000_000,
        db_skew: 0,
        instances: Vec::new(),
        messages: BTreeMap::new(),
        sent: 0,
        group: GroupCommit::default(),
        state: State::default(),
        synced: State::default(),
        tokens: Vec::new(),
        urls: BTreeMap::new(),
        owners: BTreeMap::new(),
        taken: None,
        rng,
        trace,
        flaw,
    };
    for _ in 0..world.rng.between(1, 3) {
        let skew = world.rng.between(-5 * MINUTE, 5 * MINUTE);
        let (latest, gone, due) = (LatestTime::default(), BTreeMap::new(), Vec::new());
        world.instances.push(Instance { skew, latest, holds: None, stage: 0, due, gone });
    }
    for _ in 0..world.rng.between(30, 150) {
        let longest = if world.rng.one_in(12) { 16 * MINUTE } else { MINUTE };
        let until = world.at + world.rng.between(1, longest);
        world.pass(until)?;
        world.happen()?;
    }
    world.power_cut("the end")
}

impl World<'_> {
    fn db_now(&self) -> i64 {
        self.at + self.db_skew
    }

    fn now(&self, one: usize) -> Timestamp {
        Timestamp::from_ms(self.at + self.instances[one].skew)
    }

    fn pass(&mut self, until: i64) -> Result<(), String> {
        while let Some(first) = self.messages.first_entry().filter(|first| first.key().0 <= until) {
            self.at = self.at.max(first.key().0);
            match first.remove() {
                Message::Ask(batch) => {
                    let steps = batch.steps.len();
                    self.group.add(batch, steps);
                    // More batches may arrive before the writer runs.
                    if self.rng.one_in(2) {
                        self.write()?;
                    }
                }
                Message::Answer(batch, answer) => self.hear(&batch, answer.as_ref()),
            }
        }
        self.at = until;
        self.write()
    }

    fn post(&mut self, message: Message) {
        if self.rng.one_in(15) {
            return;
        }
        let delay = if self.rng.one_in(10) { 16 * MINUTE } else { 40 };
        let due = self.at + self.rng.between(0, delay);
        self.sent += 1;
        self.messages.insert((due, self.sent), message);
    }

    fn ask(&mut self, from: usize, steps: Vec<Step>, whole: bool) {
        self.post(Message::Ask(Batch { from, steps, whole }));
    }

    fn happen(&mut self) -> Result<(), String> {
        let one = self.rng.pick(self.instances.len());
        match self.rng.below(40) {
            0..10 => self.create(one),
            10..14 => self.claim(one),
            14..16 => self.change(one),
            16..26 => return self.visit(one),
            26..36 => self.clean_up(one),
            36 => return self.power_cut("a power cut"),
            37 => self.instances[one].skew += self.rng.between(-30 * MINUTE, 30 * MINUTE),
            38 if self.rng.one_in(4) => {
                self.db_skew += self.rng.between(-30 * MINUTE, 30 * MINUTE);
                self.taken = self.taken.take().map(|(by, _)| (by, i64::MIN / 2));
            }
            _ => {
                // An instance is killed and loses its state.
                let instance = &mut self.instances[one];
                (instance.holds, instance.stage) = (None, 0);
                (instance.due, instance.gone) = (Vec::new(), BTreeMap::new());
                instance.latest = LatestTime::default();
            }
        }
        Ok(())
    }

    fn create(&mut self, one: usize) {
        let now = self.now(one).as_ms();
        let count = if self.rng.one_in(4) { 3 } else { 1 };
        let steps = (0..count).map(|_| {
            let anonymous = self.rng.one_in(2);
            self.sent += 1;
            let token = i64::try_from(self.sent).unwrap();
            let code = self.rng.between(1, 12);
            let url = self.rng.between(1, 4);
            let ends = anonymous || self.rng.one_in(3);
            Step::Create {
                code,
                url,
                token: anonymous.then_some(token),
                owner: (!anonymous).then_some(i64::try_from(one).unwrap()),
                expires: ends.then_some(now + LIFE),
            }
        });
        let steps: Vec<Step> = steps.collect();
        let whole = self.rng.one_in(2);
        self.ask(one, steps, whole);
    }

    fn claim(&mut self, one: usize) {
        if self.tokens.is_empty() {
            return;
        }
        let (code, token) = self.tokens[self.rng.pick(self.tokens.len())];
        let now = self.now(one).as_ms();
        let user = 100 + i64::try_from(one).unwrap();
        self.ask(one, vec![Step::Claim { code, token, user, now }], false);
    }

    fn change(&mut self, one: usize) {
        let (code, now) = (self.rng.between(1, 12), self.now(one).as_ms());
        let restore = self.rng.one_in(2);
        let step = if restore { Step::Restore { code } } else { Step::Delete { code, now } };
        self.ask(one, vec![step], false);
    }

    /// The next stage of a cleanup, whether or not the previous one was answered.
    fn clean_up(&mut self, one: usize) {
        let by = format!("i{one}");
        let Some(at) = self.instances[one].holds else {
            return self.ask(one, vec![Step::Take { by }], false);
        };
        let fence = Step::Fence { by: by.clone(), at };
        self.instances[one].stage = (self.instances[one].stage + 1) % 4;
        match self.instances[one].stage {
            1 => self.ask(one, vec![fence, Step::Mark], true),
            2 => {
                let now = self.db_now();
                let is_due = |link: &Link| link.is_due(now);
                let due = self.state.links.iter().filter(|(_, link)| is_due(link));
                self.instances[one].due = due.map(|(code, _)| *code).collect();
            }
            3 => {
                let due = std::mem::take(&mut self.instances[one].due);
                let purges = due.into_iter().map(|code| Step::Purge { code });
                self.ask(one, [fence].into_iter().chain(purges).collect(), false);
            }
            _ => {
                self.instances[one].holds = None;
                self.ask(one, vec![Step::Release { by, at }], false);
            }
        }
    }

    fn visit(&mut self, one: usize) -> Result<(), String> {
        let code = self.rng.between(1, 12);
        let now = self.now(one);
        let Some(link) = self.state.links.get(&code) else { return Ok(()) };
        let instance = &mut self.instances[one];
        let decision = Validity::of(link.life).at(instance.latest.observe(now));
        self.trace.note(self.at, "visit", &[code, i64::from(decision == Decision::Live)]);
        if link.life.purged_at.is_some() && decision != Decision::NotFound {
            return Err(format!("the tombstone of {code} is answered with {decision:?}"));
        }
        match decision {
            Decision::Gone => drop(instance.gone.insert(code, link.version)),
            Decision::Live if instance.gone.get(&code) == Some(&link.version) => {
                return Err(format!("{code} was gone, and redirects again"));
            }
            _ => {}
        }
        Ok(())
    }

    /// The writer runs all batches.
    fn write(&mut self) -> Result<(), String> {
        if self.flaw == Flaw::NoSync && self.rng.one_in(3) {
            self.synced = self.state.clone();
        }
        while let Some(batches) = self.group.transaction() {
            let batches = batches.to_vec();
            let mut next = self.state.clone();
            let ran = self.run_group(&batches, &mut next);
            if let Ok(answers) = &ran {
                self.is_sound(&batches, answers, &next)?;
                self.state = next;
                if self.flaw != Flaw::NoSync {
                    self.synced = self.state.clone();
                }
                if self.rng.one_in(40) {
                    // Committed, but the power fails before the batches are answered.
                    return self.power_cut("before the answers");
                }
            }
            for (batch, answer) in self.group.ran(ran) {
                self.acknowledge(&batch, answer.as_ref())?;
                self.post(Message::Answer(batch, answer));
            }
        }
        Ok(())
    }

    fn run_group(&mut self, batches: &[Batch], state: &mut State) -> TransactionResult<Rows, ()> {
        let now = self.db_now();
        let mut answers = Vec::new();
        for batch in batches {
            let mut rows = Rows::new();
            let mut stands = true;
            for step in &batch.steps {
                let row = state.run(step, self.flaw, now);
                let must = batch.whole || matches!(step, Step::Fence { .. });
                stands &= row.is_some() || (!must || matches!(step, Step::Mark));
                rows.push(row);
            }
            if !stands {
                return Err(RolledBack::ByBatch(Err(())));
            }
            answers.push(Ok(rows));
        }
        if self.rng.one_in(30) {
            return Err(RolledBack::Lost(()));
        }
        self.trace.note(self.at, "commit", &[i64::try_from(batches.len()).unwrap()]);
        Ok(answers)
    }

    /// Checks a transaction that is about to be committed.
    fn is_sound(
        &mut self,
        batches: &[Batch],
        answers: &[Result<Rows, ()>],
        next: &State,
    ) -> Result<(), String> {
        let now = self.db_now();
        for (batch, rows) in batches.iter().zip(answers.iter().flatten()) {
            for (step, _) in batch.steps.iter().zip(rows).filter(|(_, row)| row.is_some()) {
                match step {
                    Step::Take { by } => {
                        if let Some((_, before)) = &self.taken
                            && now - before < AT_LEAST
                        {
                            return Err(format!("two cleanups began within {} ms", now - before));
                        }
                        self.taken = Some((by.clone(), now));
                    }
                    Step::Fence { by, at } => {
                        let holder = self.taken.as_ref().map(|(by, _)| by);
                        if holder != Some(by) {
                            return Err(format!("{by} cleaned up, though {holder:?} has the lock"));
                        }
                        if self.taken.as_ref().is_some_and(|(_, since)| since > at) {
                            return Err(format!("{by} cleaned up with a lock that it had lost"));
                        }
                    }
                    Step::Purge { code } => self.is_dead(*code, next)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn is_dead(&self, code: i64, next: &State) -> Result<(), String> {
        let (Some(before), Some(after)) = (self.state.links.get(&code), next.links.get(&code))
        else {
            return Ok(());
        };
        let purged = before.life.purged_at.is_none() && after.life.purged_at.is_some();
        let over = after.life.expires_at.is_some() && after.life.expired_at.is_some();
        if purged && after.life.deleted_at.is_none() && !over {
            return Err(format!("{code} is live, and was purged: {after:?}"));
        }
        Ok(())
    }

    /// The database acknowledges: from here on the change must be durable.
    fn acknowledge(&mut self, batch: &Batch, answer: Result<&Rows, &()>) -> Result<(), String> {
        let Ok(rows) = answer else { return Ok(()) };
        for (step, row) in batch.steps.iter().zip(rows).filter(|(_, row)| row.is_some()) {
            match step {
                Step::Create { code, url, token, .. } => {
                    if let Some(other) = self.urls.insert(*code, *url) {
                        return Err(format!("{code} was given to {other} and to {url}: {row:?}"));
                    }
                    self.tokens.extend(token.map(|token| (*code, token)));
                }
                Step::Claim { code, user, .. } => {
                    let other = self.owners.insert(*code, *user).filter(|other| other != user);
                    if let Some(other) = other {
                        return Err(format!("{code} belongs to {other} and to {user}"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn hear(&mut self, batch: &Batch, answer: Result<&Rows, &()>) {
        let (Ok(rows), [Step::Take { .. }]) = (answer, batch.steps.as_slice()) else { return };
        let instance = &mut self.instances[batch.from];
        (instance.holds, instance.stage) = (rows[0], 0);
    }

    /// Only what is on the disk remains; every acknowledged change must be there.
    fn power_cut(&mut self, when: &str) -> Result<(), String> {
        self.trace.note(self.at, "power", &[]);
        self.state = self.synced.clone();
        self.group = GroupCommit::default();
        for (code, url) in &self.urls {
            match self.state.links.get(code) {
                None => return Err(format!("{when}: {code} was acknowledged and is lost")),
                Some(link) if link.url != *url => {
                    return Err(format!("{when}: {code} led to {url}, and leads to {}", link.url));
                }
                Some(_) => {}
            }
        }
        for (code, user) in &self.owners {
            let owner = self.state.links.get(code).and_then(|link| link.owner);
            if owner != Some(*user) {
                return Err(format!("{when}: {code} was claimed by {user}, and is {owner:?}'s"));
            }
        }
        Ok(())
    }
}
