//! The counter as a script that Redis runs: how a request is sent to it, and how its answer is read.

use crate::redis::Script;
use kurz_core::link::Month;
use kurz_core::quota::grant::{GrantCount, GrantReply, GrantRequest};
use kurz_core::time::Timestamp;

/// The rules of [`kurz_core::quota::grant::GrantCounter`], in Redis's language.
pub(super) fn counter() -> Script {
    Script::new(include_str!("grant.lua"))
}

/// A request as the script reads it.
pub(super) fn arguments(request: &GrantRequest, instance: &str) -> Vec<String> {
    let first = Month::from_number(request.month.number() - 1).end();
    let after = request.month.end();
    // Lua's numbers are doubles.
    let number = |number: u64| number.min(1 << 52).to_string();
    vec![
        first.as_ms().to_string(),
        after.as_ms().to_string(),
        number(request.limit),
        request.seed.map_or_else(|| "-1".to_owned(), number),
        instance.to_owned(),
        number(request.number),
        request.created.to_string(),
        number(request.used),
        number(request.back),
        number(request.debt),
        number(request.need),
        number(request.want),
        number(request.peers.max(1)),
    ]
}

/// What the script answers; `None` when it makes no sense.
pub(super) fn read(numbers: &[i64]) -> Option<GrantReply> {
    let [kind, grant, left, granted, used, created, now] = numbers else { return None };
    let now = Timestamp::from_ms(*now);
    let count = |number: &i64| u64::try_from(*number).ok();
    match kind {
        0 => Some(GrantReply::Counted(GrantCount {
            grant: count(grant)?,
            left: count(left)?,
            granted: count(granted)?,
            used: count(used)?,
            created: *created,
            now,
        })),
        1 => Some(GrantReply::NoCounter { now }),
        2 => Some(GrantReply::OtherMonth { now }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::config::RedisUrl;
    use crate::entropy::Entropy;
    use crate::redis::Redis;
    use kurz_core::quota::grant::GrantCounter;

    /// Numbers that look like chance, the same in every run.
    struct Dice(u64);

    impl Dice {
        fn throw(&mut self, sides: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % sides
        }
    }

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
        let mut counter = GrantCounter::default();
        let (mut created, mut numbers) = (0, [0_u64; 3]);
        for round in 0..2000 {
            let at = usize::try_from(dice.throw(3)).unwrap();
            numbers[at] += u64::from(dice.throw(5) > 0);
            let now = Clock::system().now();
            let mut request = GrantRequest {
                number: numbers[at].saturating_sub(dice.throw(8) / 7).max(1),
                month: Month::of(now),
                limit: 1 + dice.throw(20_000),
                seed: (round > 3).then(|| dice.throw(300)),
                created: if dice.throw(6) == 0 { 12 } else { created },
                used: dice.throw(9),
                back: dice.throw(9),
                debt: dice.throw(20) / 19,
                need: dice.throw(4),
                want: dice.throw(2000),
                peers: 1 + dice.throw(4),
            };
            if dice.throw(50) == 0 {
                request.month = Month::from_number(request.month.number() + 1);
            }
            let instance = ["a", "b", "c"][at];
            let arguments = arguments(&request, instance);
            // On a busy machine one may take too long; then it may have been done all the same.
            let theirs = loop {
                if let Ok(answer) = redis.run(&rules, &key, &arguments).await {
                    break read(&answer).unwrap();
                }
                assert!(!redis.is_away(), "the server of TEST_REDIS_URL answers");
            };
            let (GrantReply::Counted(GrantCount { now: there, .. })
            | GrantReply::NoCounter { now: there }
            | GrantReply::OtherMonth { now: there }) = theirs;
            let ours = counter.answer(instance, &request, there);
            assert_eq!(ours, theirs, "round {round}: {request:?}");
            if let GrantReply::Counted(counted) = ours {
                created = counted.created;
            }
        }
    }
}
