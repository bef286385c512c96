//! The counter as a script that Redis runs: how a question is put to it, and how its answer is read.

use crate::clock::Timestamp;
use crate::ledger::counter::{Counted, Question, Reply};
use crate::link::Month;
use crate::redis::Script;

/// The rules of [`crate::ledger::counter::Counter`], in Redis's language.
pub(super) fn counter() -> Script {
    Script::new(include_str!("counter.lua"))
}

/// A question as the script reads it.
pub(super) fn arguments(question: &Question, instance: &str) -> Vec<String> {
    let first = Month::from_number(question.month.number() - 1).end();
    let after = question.month.end();
    // Lua's numbers are doubles.
    let number = |number: u64| number.min(1 << 52).to_string();
    vec![
        first.as_ms().to_string(),
        after.as_ms().to_string(),
        number(question.limit),
        question.seed.map_or_else(|| "-1".to_owned(), number),
        instance.to_owned(),
        number(question.number),
        question.born.to_string(),
        number(question.used),
        number(question.back),
        number(question.debt),
        number(question.need),
        number(question.want),
        number(question.peers.max(1)),
    ]
}

/// What the script answers; `None` when it makes no sense.
pub(super) fn read(numbers: &[i64]) -> Option<Reply> {
    let [kind, grant, left, granted, used, born, now] = numbers else { return None };
    let now = Timestamp::from_ms(*now);
    let count = |number: &i64| u64::try_from(*number).ok();
    match kind {
        0 => Some(Reply::Counted(Counted {
            grant: count(grant)?,
            left: count(left)?,
            granted: count(granted)?,
            used: count(used)?,
            born: *born,
            now,
        })),
        1 => Some(Reply::NoCounter { now }),
        2 => Some(Reply::OtherMonth { now }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::config::RedisUrl;
    use crate::entropy::Entropy;
    use crate::ledger::counter::Counter;
    use crate::redis::Redis;

    /// Numbers that look like chance, the same in every run.
    struct Dice(u64);

    impl Dice {
        fn throw(&mut self, sides: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % sides
        }
    }

    // threats: E2
    #[tokio::test]
    async fn the_script_and_the_counter_give_the_same_answers() {
        #[expect(clippy::disallowed_methods, reason = "the test command names its servers")]
        let url = std::env::var("TEST_REDIS_URL").expect("run ./scripts/test");
        let redis = Redis::new(RedisUrl::parse(&url).unwrap(), None);
        let mut bytes = [0; 8];
        Entropy::os().fill(&mut bytes);
        let key = format!("links:test-{}:hits", u64::from_ne_bytes(bytes));
        let _ears = redis.connect(&key).await.unwrap();
        let rules = counter();
        let mut dice = Dice(7);
        let mut counter = Counter::default();
        let (mut born, mut numbers) = (0, [0_u64; 3]);
        for round in 0..2000 {
            let at = usize::try_from(dice.throw(3)).unwrap();
            numbers[at] += u64::from(dice.throw(5) > 0);
            let now = Clock::system().now();
            let mut question = Question {
                number: numbers[at].saturating_sub(dice.throw(8) / 7).max(1),
                month: Month::of(now),
                limit: 1 + dice.throw(20_000),
                seed: (round > 3).then(|| dice.throw(300)),
                born: if dice.throw(6) == 0 { 12 } else { born },
                used: dice.throw(9),
                back: dice.throw(9),
                debt: dice.throw(20) / 19,
                need: dice.throw(4),
                want: dice.throw(2000),
                peers: 1 + dice.throw(4),
            };
            if dice.throw(50) == 0 {
                question.month = Month::from_number(question.month.number() + 1);
            }
            let instance = ["a", "b", "c"][at];
            let arguments = arguments(&question, instance);
            // On a busy machine one may take too long; then it may have been done all the same.
            let theirs = loop {
                if let Ok(answer) = redis.run(&rules, &key, &arguments).await {
                    break read(&answer).unwrap();
                }
                assert!(!redis.is_away(), "the server of TEST_REDIS_URL answers");
            };
            let (Reply::Counted(Counted { now: there, .. })
            | Reply::NoCounter { now: there }
            | Reply::OtherMonth { now: there }) = theirs;
            let ours = counter.answer(instance, &question, there);
            assert_eq!(ours, theirs, "round {round}: {question:?}");
            if let Reply::Counted(counted) = ours {
                born = counted.born;
            }
        }
    }
}
