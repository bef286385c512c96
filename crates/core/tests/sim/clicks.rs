//! Clicks and their events on their way to the store: processes with a planner each; writes that fail, whose result is
//! lost, or that are applied late; processes that are killed, and others that apply the log rows of a dead one, or turn
//! rows of the event log into blocks. At every moment there are as many events as clicks.

use std::collections::BTreeMap;
use std::time::Duration;

use kurz_core::clicks::ClickTotals;
use kurz_core::clicks::planner::{BatchDetails, EncodedEvents, FlushPlanner, FlushSizes, Task};
use kurz_core::link::{Hour, LinkId};
use kurz_core::time::Timestamp;

use crate::rng::{Rng, Trace};

/// A process without writes for so long is taken for dead, in milliseconds.
const SILENT: i64 = 10_000;
/// Small, so that few clicks reach every threshold.
const SIZES: FlushSizes = FlushSizes { few: 3, part: 2, most: 12 };

/// A deliberate defect, which must be detected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// The store accepts a turn more than once.
    NoTurns,
    /// A part is added to the tables and left in the log.
    SettledTwice,
    /// Events are stored whether or not the turn of their totals is accepted.
    EventsApart,
    /// Rows of the event log become a block and stay in the log.
    CutTwice,
}

/// A write of a process.
#[derive(Clone)]
enum Ask {
    Add {
        turn: i64,
        totals: Vec<ClickTotals>,
        events: Vec<(i64, u64)>,
    },
    Log {
        turn: i64,
        seq: i64,
        totals: Vec<ClickTotals>,
        events: Vec<(i64, u64)>,
    },
    Cut {
        rows: Vec<i64>,
        parts: Vec<(i64, Vec<ClickTotals>)>,
    },
    Settle {
        seq: i64,
    },
    SettleOwn,
    /// Turn rows of the event log into a block.
    CutEvents {
        rows: Vec<(i64, i64)>,
    },
}

struct Process {
    writer: i64,
    planner: FlushPlanner,
    /// Clicks that were not collected yet.
    queue: Vec<i64>,
    /// All clicks that it answered.
    served: u64,
}

#[derive(Default)]
struct Store {
    tables: BTreeMap<i64, u64>,
    log: BTreeMap<(i64, i64), Vec<ClickTotals>>,
    /// The last turn of each writer, and its time.
    turns: BTreeMap<i64, (i64, i64)>,
    /// The clicks of each writer that are in the tables or the log.
    by_writer: BTreeMap<i64, u64>,
    total: u64,
    /// Rows of the event log, and how many events each holds.
    event_log: BTreeMap<(i64, i64), u64>,
    /// Events in blocks.
    block_events: u64,
}

struct World<'a> {
    rng: &'a mut Rng,
    trace: &'a mut Trace,
    flaw: Flaw,
    at: i64,
    processes: Vec<Process>,
    writers: i64,
    store: Store,
    /// Writes that timed out and are applied later.
    late: BTreeMap<(i64, u64), (i64, Ask)>,
    served: u64,
    /// Clicks of killed processes that were not written.
    lost: u64,
}

/// Runs one world.
pub(crate) fn run(rng: &mut Rng, trace: &mut Trace, flaw: Flaw) -> Result<(), String> {
    let mut world = World {
        at: 1_773_576_000_000,
        processes: Vec::new(),
        writers: 0,
        store: Store::default(),
        late: BTreeMap::new(),
        served: 0,
        lost: 0,
        rng,
        trace,
        flaw,
    };
    for _ in 0..world.rng.between(1, 3) {
        let fresh = world.start();
        world.processes.push(fresh);
    }
    for _ in 0..world.rng.between(20, 120) {
        world.happen()?;
        world.check()?;
    }
    world.finish()
}

fn visits(totals: &[ClickTotals]) -> u64 {
    totals.iter().map(|totals| totals.clicks).sum()
}

impl World<'_> {
    fn start(&mut self) -> Process {
        self.writers += 1;
        self.store.turns.insert(self.writers, (0, self.at));
        let planner = FlushPlanner::new(Duration::from_secs(4)).with(SIZES);
        Process { writer: self.writers, planner, queue: Vec::new(), served: 0 }
    }

    fn happen(&mut self) -> Result<(), String> {
        self.at += if self.rng.one_in(20) { 12_000 } else { self.rng.between(1, 400) };
        self.arrive()?;
        let one = self.rng.pick(self.processes.len());
        match self.rng.below(20) {
            0..8 => self.visit(one),
            8..16 => drop(self.flush(one, false, false)?),
            16 => self.settle_left(),
            17 => self.cut_events(one)?,
            18 => self.kill(one),
            _ => {}
        }
        Ok(())
    }

    fn visit(&mut self, one: usize) {
        let count = if self.rng.one_in(4) { 9 } else { self.rng.between(1, 3) };
        for _ in 0..count {
            let link = self.rng.between(1, 12);
            self.processes[one].queue.push(link);
        }
        self.processes[one].served += count.unsigned_abs();
        self.served += count.unsigned_abs();
        self.trace.note(self.at, "visits", &[self.processes[one].writer, count]);
    }

    /// What the click writer does four times a second; whether all writes succeeded.
    fn flush(&mut self, one: usize, all: bool, sound: bool) -> Result<bool, String> {
        self.gather(one);
        for _ in 0..200 {
            let now = Timestamp::from_ms(self.at);
            let Some(task) = self.processes[one].planner.plan(now, all) else {
                return self.is_safe(one).map(|()| true);
            };
            if !self.carry_out(one, task, sound)? {
                return Ok(false);
            }
        }
        Err("the planner never ends".to_owned())
    }

    fn gather(&mut self, one: usize) {
        let process = &mut self.processes[one];
        if process.planner.is_full() {
            return;
        }
        let events = u32::try_from(process.queue.len()).unwrap();
        process.queue.sort_unstable();
        let at = Timestamp::from_ms(self.at);
        let mut totals = Vec::new();
        for link in process.queue.drain(..) {
            let (link, hour) = (LinkId(link), Hour::of(at));
            let one = ClickTotals {
                link,
                hour,
                others: 0,
                clicks: 1,
                reserved: 0,
                nanos: 1,
                last_at: at,
            };
            kurz_core::clicks::totals::push(&mut totals, one);
        }
        // Details are dropped now and then.
        let mut details = BatchDetails::default();
        if events > 0 && self.rng.one_in(3) {
            details.counted.clone_from(&totals);
        } else if events > 0 {
            details.rows.push(EncodedEvents { events, data: Vec::new() });
        }
        process.planner.take_in(totals);
        process.planner.take_in_details(details);
    }

    /// An instance turns rows of the event log into a block: its own, or those of all.
    fn cut_events(&mut self, one: usize) -> Result<(), String> {
        let writer = self.processes[one].writer;
        let all = self.rng.one_in(2);
        let rows = self.store.event_log.keys().copied();
        let rows: Vec<_> = rows.filter(|(of, _)| all || *of == writer).take(3).collect();
        if rows.is_empty() {
            return Ok(());
        }
        self.ask(writer, Ask::CutEvents { rows }, false).map(|_| ())
    }

    /// After a successful flush, all collected clicks are in the store.
    fn is_safe(&self, one: usize) -> Result<(), String> {
        let process = &self.processes[one];
        let safe = self.store.by_writer.get(&process.writer).copied().unwrap_or_default();
        let unsafe_yet = u64::try_from(process.queue.len()).unwrap();
        if safe + unsafe_yet == process.served {
            return Ok(());
        }
        Err(format!("after a flush {safe} of {} clicks are safe", process.served))
    }

    /// One task of a process; whether its result is known.
    fn carry_out(&mut self, one: usize, task: Task, sound: bool) -> Result<bool, String> {
        let process = &mut self.processes[one];
        let (writer, turn) = (process.writer, process.planner.turn());
        let sent = process.planner.sent().map(|(seq, totals)| (seq, totals.to_vec()));
        let part = process.planner.part().map(|(seq, _)| seq);
        let (first, details) = process.planner.sent_details();
        let rows = details.rows.iter().map(|row| u64::from(row.events));
        let counted = Some(visits(&details.counted)).filter(|clicks| *clicks > 0);
        let events: Vec<(i64, u64)> = (first..).zip(rows.chain(counted)).collect();
        let ask = match (task, sent, part) {
            (Task::Add, Some((_, totals)), _) => Ask::Add { turn, totals, events },
            (Task::Log, Some((seq, totals)), _) => Ask::Log { turn, seq, totals, events },
            (Task::Settle, _, Some(seq)) => Ask::Settle { seq },
            (Task::Cut, ..) => {
                let (rows, parts) = process.planner.cut();
                let rows = rows.to_vec();
                Ask::Cut { rows, parts: parts.map(|(seq, part)| (seq, part.to_vec())).collect() }
            }
            _ => return Err(format!("{task:?} without anything to do")),
        };
        let Some(done) = self.ask(writer, ask, sound)? else { return Ok(false) };
        let now = Timestamp::from_ms(self.at);
        match task {
            Task::Add | Task::Log => drop(self.processes[one].planner.did_send(now)),
            Task::Settle => self.processes[one].planner.did_settle(),
            Task::Cut if done => self.processes[one].planner.did_cut(),
            Task::Cut => {
                if self.ask(writer, Ask::SettleOwn, sound)?.is_none() {
                    return Ok(false);
                }
                self.processes[one].planner.lost_rows();
            }
        }
        Ok(true)
    }

    /// Send a write to the store; its result, if it is known.
    fn ask(&mut self, writer: i64, ask: Ask, sound: bool) -> Result<Option<bool>, String> {
        let fate = if sound { 0 } else { self.rng.below(10) };
        self.trace.note(self.at, "ask", &[writer, i64::try_from(fate).unwrap()]);
        match fate {
            // Failed: the store is unreachable.
            7 => Ok(None),
            // Written, but the result is lost.
            8 => self.apply(writer, &ask).map(|_| None),
            // Timed out, and written later.
            9 => {
                let due = self.at + self.rng.between(1, 20_000);
                self.late.insert((due, self.trace.events), (writer, ask));
                Ok(None)
            }
            _ => self.apply(writer, &ask).map(Some),
        }
    }

    fn arrive(&mut self) -> Result<(), String> {
        while let Some(first) = self.late.first_entry().filter(|first| first.key().0 <= self.at) {
            let (writer, ask) = first.remove();
            self.trace.note(self.at, "late", &[writer]);
            self.apply(writer, &ask)?;
        }
        Ok(())
    }

    /// One transaction of the store.
    fn apply(&mut self, writer: i64, ask: &Ask) -> Result<bool, String> {
        let store = &mut self.store;
        let mut take_turn = |turn: i64| {
            let last = store.turns.entry(writer).or_insert((0, self.at));
            let free = last.0 + 1 == turn || self.flaw == Flaw::NoTurns;
            if free {
                *last = (turn, self.at);
            }
            free
        };
        match ask {
            Ask::Add { turn, totals, events } => {
                let free = take_turn(*turn);
                if free || self.flaw == Flaw::EventsApart {
                    store.log_events(writer, events, self.flaw)?;
                }
                if free {
                    store.add(totals);
                    store.count(writer, totals);
                }
            }
            Ask::Log { turn, seq, totals, events } => {
                let free = take_turn(*turn);
                if free || self.flaw == Flaw::EventsApart {
                    store.log_events(writer, events, self.flaw)?;
                }
                if free {
                    if store.log.insert((writer, *seq), totals.clone()).is_some() {
                        return Err(format!("row {seq} of {writer} was given twice"));
                    }
                    store.count(writer, totals);
                }
            }
            Ask::Cut { rows, parts } => {
                if !rows.iter().all(|seq| store.log.contains_key(&(writer, *seq))) {
                    return Ok(false);
                }
                for seq in rows {
                    store.log.remove(&(writer, *seq));
                }
                for (seq, totals) in parts {
                    if store.log.insert((writer, *seq), totals.clone()).is_some() {
                        return Err(format!("part {seq} of {writer} was given twice"));
                    }
                }
            }
            Ask::CutEvents { rows } => {
                if !rows.iter().all(|row| store.event_log.contains_key(row)) {
                    return Ok(false);
                }
                for row in rows {
                    store.block_events += store.event_log[row];
                    if self.flaw != Flaw::CutTwice {
                        store.event_log.remove(row);
                    }
                }
            }
            Ask::Settle { seq } => store.settle((writer, *seq), self.flaw),
            Ask::SettleOwn => {
                let own: Vec<_> = store.log.keys().filter(|key| key.0 == writer).copied().collect();
                for key in own {
                    store.settle(key, self.flaw);
                }
            }
        }
        Ok(true)
    }

    /// Another process applies the log rows of dead ones.
    fn settle_left(&mut self) {
        let store = &mut self.store;
        let is_silent = |writer: &i64| {
            store.turns.get(writer).is_none_or(|(_, written)| written + SILENT <= self.at)
        };
        let left: Vec<_> = store.log.keys().filter(|key| is_silent(&key.0)).copied().collect();
        self.trace.note(self.at, "settle-left", &[i64::try_from(left.len()).unwrap()]);
        for key in left {
            store.settle(key, self.flaw);
        }
    }

    fn kill(&mut self, one: usize) {
        let fresh = self.start();
        let dead = std::mem::replace(&mut self.processes[one], fresh);
        let safe = self.store.by_writer.get(&dead.writer).copied().unwrap_or_default();
        self.lost += dead.served - safe.min(dead.served);
        self.trace.note(self.at, "kill", &[dead.writer]);
    }

    fn check(&self) -> Result<(), String> {
        let store = &self.store;
        let tables: u64 = store.tables.values().sum();
        let logged: u64 = store.log.values().map(|totals| visits(totals)).sum();
        if tables + logged > self.served {
            return Err(format!("{tables} + {logged} counted of {}", self.served));
        }
        if store.total != tables + logged {
            return Err(format!("the total says {}, not {tables} + {logged}", store.total));
        }
        let events = store.event_log.values().sum::<u64>() + store.block_events;
        if events != store.total {
            return Err(format!("there are {events} events of {} clicks", store.total));
        }
        Ok(())
    }

    /// Without further faults everything is written, and counted once.
    fn finish(mut self) -> Result<(), String> {
        self.at += 30_000;
        self.arrive()?;
        for one in 0..self.processes.len() {
            for _ in 0..10 {
                let done = self.flush(one, true, true)?;
                let process = &self.processes[one];
                if done && process.queue.is_empty() && process.planner.waiting() == 0 {
                    break;
                }
            }
            if self.processes[one].planner.waiting() > 0 {
                return Err("totals are never written".to_owned());
            }
        }
        self.at += 30_000;
        self.settle_left();
        self.check()?;
        let tables: u64 = self.store.tables.values().sum();
        if tables + self.lost < self.served {
            return Err(format!("{tables} counted of {}, {} lost", self.served, self.lost));
        }
        if self.lost == 0 && tables != self.served {
            return Err(format!("{tables} counted of {}, no process was killed", self.served));
        }
        Ok(())
    }
}

impl Store {
    fn add(&mut self, totals: &[ClickTotals]) {
        for totals in totals {
            *self.tables.entry(totals.link.0).or_default() += totals.clicks;
        }
    }

    fn count(&mut self, writer: i64, totals: &[ClickTotals]) {
        *self.by_writer.entry(writer).or_default() += visits(totals);
        self.total += visits(totals);
    }

    fn log_events(&mut self, writer: i64, rows: &[(i64, u64)], flaw: Flaw) -> Result<(), String> {
        for (seq, events) in rows {
            let again = self.event_log.insert((writer, *seq), *events);
            if again.is_some() && flaw == Flaw::None {
                return Err(format!("event row {seq} of {writer} was given twice"));
            }
        }
        Ok(())
    }

    fn settle(&mut self, key: (i64, i64), flaw: Flaw) {
        let Some(totals) = self.log.remove(&key) else { return };
        self.add(&totals);
        if flaw == Flaw::SettledTwice {
            self.log.insert(key, totals);
        }
    }
}
