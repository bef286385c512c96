//! Reservations of several instances on one row of hits, through lost replies, crashes and late writes.

use proptest::prelude::*;

use crate::link::{LinkId, Month};
use crate::quota::Reservation;
use crate::quota::grant::{InstanceBit, Members, QuotaRow};
use crate::quota::reservation::{NextStep, Take};

const LINK: LinkId = LinkId(1);
const START: i64 = 1_773_576_000_000;

struct Instance {
    bit: i64,
    held: Reservation,
    /// Clicks that are not in the row yet.
    unwritten: u64,
}

/// One link on several instances.
struct World {
    at: i64,
    limit: u64,
    row: QuotaRow,
    instances: Vec<Instance>,
    served: u64,
    /// Clicks that were lost with their instance.
    lost: u64,
    slots: i64,
}

#[derive(Clone, Debug)]
enum Event {
    Visits {
        instance: usize,
        count: u8,
    },
    Ask {
        instance: usize,
    },
    /// The database does as it was asked, and the reply is lost.
    AskWithoutReply {
        instance: usize,
    },
    /// The request never arrives.
    AskUnsent {
        instance: usize,
    },
    Recall {
        instance: usize,
    },
    Write {
        instance: usize,
    },
    Crash {
        instance: usize,
    },
    Pass {
        ms: u16,
    },
}

impl World {
    fn new(limit: u64, instances: usize) -> Self {
        let row = QuotaRow::new(month_at(START));
        let mut world =
            Self { at: START, limit, row, instances: Vec::new(), served: 0, lost: 0, slots: 0 };
        for _ in 0..instances {
            let fresh = world.fresh();
            world.instances.push(fresh);
        }
        world
    }

    fn fresh(&mut self) -> Instance {
        self.slots += 1;
        Instance { bit: 1 << (self.slots % 60), held: Reservation::new(LINK), unwritten: 0 }
    }

    fn month(&self) -> Month {
        month_at(self.at)
    }

    fn members(&self, instance: usize) -> Members {
        let own = InstanceBit::of_column(Some(self.instances[instance].bit));
        Members { own, count: self.instances.len().try_into().unwrap() }
    }

    fn live(&self) -> i64 {
        self.instances.iter().fold(0, |live, one| live | one.bit)
    }

    fn visit(&mut self, instance: usize) -> Take {
        let taken = self.instances[instance].held.take(self.month(), self.limit, self.at);
        if matches!(taken, Take::Taken | Take::TakenLast) {
            self.served += 1;
            self.instances[instance].unwritten += 1;
        }
        taken
    }

    fn ask(&mut self, instance: usize, arrives: bool, answered: bool) -> NextStep {
        let (month, members, at) = (self.month(), self.members(instance), self.at);
        let one = &self.instances[instance];
        let waiting = one.held.wait(self.limit);
        let request = one.held.request(month, at);
        drop(waiting);
        if !arrives {
            return NextStep::Done;
        }
        let reply = self.row.answer(members, self.live(), &request);
        if answered { one.held.settle(&request, reply.as_ref(), at) } else { NextStep::Done }
    }

    fn recall(&mut self, instance: usize) {
        let (month, members, at) = (self.month(), self.members(instance), self.at);
        let one = &self.instances[instance];
        one.held.recall();
        let request = one.held.request(month, at);
        self.row.give_back(members.own, month, request.back.unwrap_or_default());
    }

    /// Write the clicks of an instance, and forget the link if nothing is held of it.
    fn write(&mut self, instance: usize) {
        let (month, own) = (self.month(), self.members(instance).own);
        let one = &mut self.instances[instance];
        let clicks = std::mem::take(&mut one.unwritten);
        self.row.count(month, clicks, clicks);
        if one.held.hits() == 0 {
            self.row.forget(own, month);
        }
    }

    fn happen(&mut self, event: &Event) {
        match *event {
            Event::Visits { instance, count } => {
                for _ in 0..count {
                    self.visit(instance);
                }
            }
            Event::Ask { instance } => drop(self.ask(instance, true, true)),
            Event::AskWithoutReply { instance } => drop(self.ask(instance, true, false)),
            Event::AskUnsent { instance } => drop(self.ask(instance, false, false)),
            Event::Recall { instance } => self.recall(instance),
            Event::Write { instance } => self.write(instance),
            Event::Crash { instance } => {
                self.lost += self.instances[instance].unwritten;
                self.instances[instance] = self.fresh();
            }
            Event::Pass { ms } => self.at += i64::from(ms),
        }
    }

    /// Visitors come to one instance until it refuses for good; the other instances give hits back when asked.
    fn use_up(&mut self, instance: usize) {
        let mut refused = 0;
        for _ in 0..20 * self.limit + 400 {
            self.at += 400;
            if self.visit(instance) == Take::Over {
                refused += 1;
            } else if self.ask(instance, true, true) == NextStep::Done {
                refused = 0;
            } else {
                for other in 0..self.instances.len() {
                    self.recall(other);
                    self.write(other);
                }
            }
            if refused > 20 {
                return;
            }
        }
        panic!("it never refuses");
    }
}

fn month_at(at: i64) -> Month {
    Month::of(crate::time::Timestamp::from_ms(at))
}

fn event() -> impl Strategy<Value = Event> {
    let instance = 0..3_usize;
    prop_oneof![
        6 => (instance.clone(), 1..40_u8)
            .prop_map(|(instance, count)| Event::Visits { instance, count }),
        6 => instance.clone().prop_map(|instance| Event::Ask { instance }),
        2 => instance.clone().prop_map(|instance| Event::AskWithoutReply { instance }),
        1 => instance.clone().prop_map(|instance| Event::AskUnsent { instance }),
        2 => instance.clone().prop_map(|instance| Event::Recall { instance }),
        3 => instance.prop_map(|instance| Event::Write { instance }),
        2 => (1..2000_u16).prop_map(|ms| Event::Pass { ms }),
    ]
}

proptest! {
    #[test]
    fn exactly_the_limit_is_served_whatever_is_lost_or_late(
        limit in prop_oneof![Just(1_u64), Just(2), Just(50), 1..2000_u64],
        events in prop::collection::vec(event(), 0..120),
        last in 0..3_usize,
    ) {
        let mut world = World::new(limit, 3);
        for event in &events {
            world.happen(event);
            prop_assert!(world.served <= limit, "{} of {limit}", world.served);
        }
        world.use_up(last);
        prop_assert_eq!(world.served, limit);
    }

    #[test]
    fn hits_of_crashed_instances_come_back_except_for_the_clicks_that_were_lost(
        limit in 1..2000_u64,
        events in prop::collection::vec(
            prop_oneof![5 => event(), 1 => (0..3_usize).prop_map(|instance| Event::Crash { instance })],
            0..200,
        ),
        last in 0..3_usize,
    ) {
        let mut world = World::new(limit, 3);
        for event in &events {
            world.happen(event);
            prop_assert!(world.served <= limit + world.lost, "{} of {limit}", world.served);
        }
        world.use_up(last);
        prop_assert_eq!(world.served, limit + world.lost);
    }
}

#[test]
fn one_request_reserves_enough_for_thousands_of_hits() {
    for limit in [10_000, 1_000_000] {
        let mut world = World::new(limit, 3);
        let mut asked = 0;
        for hit in 0..limit * 9 / 10 {
            let instance = usize::try_from(hit % 3).unwrap();
            match world.visit(instance) {
                Take::Taken => {}
                Take::TakenLast => {
                    asked += 1;
                    world.ask(instance, true, true);
                }
                Take::Ask => {
                    asked += 1;
                    world.ask(instance, true, true);
                    world.visit(instance);
                }
                Take::Over => panic!("there is plenty left"),
            }
        }
        assert!(asked <= 80, "{asked} requests for {limit} hits");
    }
}

#[test]
fn the_first_hit_of_a_month_reserves_a_part_of_what_is_left() {
    let mut world = World::new(10_000, 3);
    world.visit(0);
    world.ask(0, true, true);
    assert_eq!(world.instances[0].held.hits(), 10_000 / 6);
    world.ask(1, true, true);
    assert_eq!(world.instances[1].held.hits(), (10_000 - 10_000 / 6) / 6);
}

#[test]
fn an_instance_whose_hits_were_wanted_reserves_what_it_uses_soon() {
    let mut world = World::new(10_000, 2);
    world.ask(0, true, true);
    world.recall(0);
    world.at += 3_600_000;
    world.ask(0, true, true);
    assert_eq!(world.instances[0].held.hits(), 1, "the one that a visitor waits for");
}

// threats: E3
#[test]
fn hits_of_a_past_month_are_dropped() {
    let mut world = World::new(50, 1);
    world.ask(0, true, true);
    assert_eq!(world.visit(0), Take::Taken);
    world.at += 31 * 86_400_000;
    assert_eq!(world.visit(0), Take::Ask);
    world.instances[0].unwritten = 0;
    world.use_up(0);
    assert_eq!(world.served, 51, "one of the old month, all of the new month");
}

#[test]
fn a_changed_limit_needs_a_new_request() {
    let mut world = World::new(50, 1);
    world.use_up(0);
    world.limit = 60;
    assert_eq!(world.visit(0), Take::Ask);
    world.use_up(0);
    assert_eq!(world.served, 60);
    world.limit = 10;
    world.use_up(0);
    assert_eq!(world.served, 60);
}
