//! Several instances and one counter under random sequences of events: replies that are lost, requests
//! that arrive twice or late, instances that crash, counters that are lost.

use proptest::prelude::*;

use crate::link::{LinkId, Month};
use crate::quota::grant::{GrantCounter, GrantReply, GrantRequest};
use crate::quota::reservation::{NextStep, Reservation, Take};
use crate::time::Timestamp;

const START: i64 = 1_773_576_000_000;

#[derive(Clone, Debug)]
enum Event {
    Visits {
        instance: usize,
        count: u8,
    },
    /// An instance sends a request and gets the reply.
    Ask {
        instance: usize,
    },
    /// An instance sends a request, and the reply is lost.
    AskWithoutReply {
        instance: usize,
    },
    /// A request of an instance arrives once more, late.
    Duplicate {
        instance: usize,
    },
    /// An instance makes a request that cannot be sent.
    AskUnsent {
        instance: usize,
    },
    /// An instance is asked to give all hits back.
    Recall {
        instance: usize,
    },
    /// An instance crashes, and a new one replaces it.
    Crash {
        instance: usize,
    },
    Pass {
        ms: u16,
    },
}

struct Instance {
    name: String,
    held: Reservation,
    asked: Vec<GrantRequest>,
}

struct World {
    counter: GrantCounter,
    instances: Vec<Instance>,
    limit: u64,
    at: i64,
    served: u64,
    created: usize,
}

impl World {
    fn new(limit: u64, count: usize) -> Self {
        let mut world = Self {
            counter: GrantCounter::default(),
            instances: Vec::new(),
            limit,
            at: START,
            served: 0,
            created: 0,
        };
        for _ in 0..count {
            let fresh = world.fresh();
            world.instances.push(fresh);
        }
        world
    }

    fn fresh(&mut self) -> Instance {
        self.created += 1;
        let month = Month::of(Timestamp::from_ms(self.at));
        Instance {
            name: format!("i{}", self.created),
            held: Reservation::new(LinkId(1), month, 0),
            asked: Vec::new(),
        }
    }

    fn month(&self) -> Month {
        Month::of(Timestamp::from_ms(self.at))
    }

    fn visit(&mut self, instance: usize) -> Take {
        let (month, limit, at) = (self.month(), self.limit, self.at);
        let take = self.instances[instance].held.take(month, limit, at);
        self.served += u64::from(matches!(take, Take::Taken | Take::TakenLast));
        take
    }

    /// Send a request as `SharedQuota` does; what to do next.
    fn ask(&mut self, instance: usize, arrives: bool, answered: bool) -> NextStep {
        let (month, at, peers) = (self.month(), self.at, 3);
        let one = &mut self.instances[instance];
        // A recalled instance has no visitor waiting.
        let recalled = one.held.is_recalled();
        let _waiting = (!recalled).then(|| one.held.wait(self.limit));
        let request = one.held.request(month, peers, Some(0), at);
        if !arrives {
            one.held.unsent(&request);
            return NextStep::Done;
        }
        one.held.sending();
        one.asked.push(request);
        let reply = self.counter.answer(&one.name, &request, Timestamp::from_ms(at));
        if answered { one.held.settle(&request, &reply, at) } else { NextStep::Done }
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
            Event::Duplicate { instance } => {
                let one = &self.instances[instance];
                if let Some(request) = one.asked.first() {
                    self.counter.answer(&one.name, request, Timestamp::from_ms(self.at));
                }
            }
            Event::Recall { instance } => {
                let one = &self.instances[instance];
                one.held.recall();
                self.ask(instance, true, true);
            }
            Event::Crash { instance } => self.instances[instance] = self.fresh(),
            Event::Pass { ms } => self.at += i64::from(ms),
        }
    }

    /// Visitors come to one instance until it refuses; the other instances give hits back when asked.
    fn use_up(&mut self, instance: usize) {
        for _ in 0..20 * self.limit + 200 {
            self.at += 1;
            match self.visit(instance) {
                Take::Over => return,
                Take::Taken | Take::TakenLast => {}
                Take::Ask => {
                    if self.ask(instance, true, true) == NextStep::Contested {
                        for other in 0..self.instances.len() {
                            self.happen(&Event::Recall { instance: other });
                            self.happen(&Event::Recall { instance: other });
                        }
                    }
                }
            }
        }
        panic!("it never refuses");
    }
}

fn event() -> impl Strategy<Value = Event> {
    let instance = 0..3_usize;
    prop_oneof![
        6 => (instance.clone(), 1..40_u8)
            .prop_map(|(instance, count)| Event::Visits { instance, count }),
        6 => instance.clone().prop_map(|instance| Event::Ask { instance }),
        2 => instance.clone().prop_map(|instance| Event::AskWithoutReply { instance }),
        1 => instance.clone().prop_map(|instance| Event::AskUnsent { instance }),
        1 => instance.clone().prop_map(|instance| Event::Duplicate { instance }),
        1 => instance.prop_map(|instance| Event::Recall { instance }),
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
    fn the_limit_is_never_exceeded_when_instances_crash(
        limit in 1..2000_u64,
        events in prop::collection::vec(
            prop_oneof![5 => event(), 1 => (0..3_usize).prop_map(|instance| Event::Crash { instance })],
            0..200,
        ),
    ) {
        let mut world = World::new(limit, 3);
        for event in &events {
            world.happen(event);
        }
        for instance in 0..3 {
            for _ in 0..100 {
                world.happen(&Event::Ask { instance });
                world.happen(&Event::Visits { instance, count: 50 });
            }
        }
        prop_assert!(world.served <= limit, "{} of {limit}", world.served);
    }
}

#[test]
fn a_hot_link_asks_at_most_once_in_fifty_hits() {
    for limit in [10_000, 1_000_000] {
        let mut world = World::new(limit, 3);
        let mut asked = 0;
        for hit in 0..limit * 9 / 10 {
            let instance = usize::try_from(hit % 3).unwrap();
            // About three thousand a second.
            world.at += i64::from(hit % 3 == 0);
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
        assert!(asked * 50 <= limit, "{asked} requests for {limit} hits");
    }
}

#[test]
fn reserved_hits_are_served_while_redis_is_unreachable() {
    let mut world = World::new(100_000, 3);
    // A link that is followed forty times a second on each instance, for ten seconds.
    for round in 0..400 {
        world.at += 25;
        for instance in 0..3 {
            // It reports every two seconds.
            if world.visit(instance) != Take::Taken || round % 80 == 79 {
                world.ask(instance, true, true);
            }
        }
    }
    let before = world.served;
    for _ in 0..500 {
        for instance in 0..3 {
            assert_ne!(world.visit(instance), Take::Over);
        }
    }
    assert_eq!(world.served - before, 1500, "without a single request");
}

#[test]
fn hits_granted_by_a_lost_counter_are_dropped() {
    let mut world = World::new(1000, 2);
    world.ask(0, true, true);
    world.at += 100;
    world.ask(0, true, true);
    assert_eq!(world.visit(0), Take::Taken);
    world.counter.reset();
    world.at += 5;
    // The other instance creates a new counter with the hits in the store.
    let other = &world.instances[1];
    let waiting = other.held.wait(1000);
    let request = other.held.request(world.month(), 2, Some(990), world.at);
    let reply = world.counter.answer(&other.name, &request, Timestamp::from_ms(world.at));
    assert!(matches!(reply, GrantReply::Counted(counted) if counted.left == 9));
    other.held.settle(&request, &reply, world.at);
    drop(waiting);
    // With its next request the first instance holds no more than the new counter grants.
    world.ask(0, true, true);
    let held = world.instances[0].held.status(world.at).held;
    assert!(held <= 9, "{held}");
}

// threats: E3
#[test]
fn hits_of_a_past_month_are_dropped() {
    let mut world = World::new(50, 1);
    world.ask(0, true, true);
    assert_eq!(world.visit(0), Take::Taken);
    world.at += 31 * 86_400_000;
    assert_eq!(world.visit(0), Take::Ask);
    world.counter.reset();
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

#[test]
fn hits_served_without_a_grant_are_deducted_first() {
    let mut world = World::new(100, 1);
    world.ask(0, true, false);
    for _ in 0..70 {
        world.instances[0].held.add_debt();
    }
    world.use_up(0);
    assert_eq!(world.served, 30);
}
