//! What the writer pays to classify clicks: CPU time for each click with warm caches, for a user agent that
//! was never seen, and for compiling the rules.
//!
//! ```text
//! cargo bench --bench classify               # or with a number of clicks: -- 100000
//! ```
//!
//! Clicks come as at 50,000 a second: batches of 12,500 with all details, by 40,000 visitors with 1,500 user
//! agents, from 3,000 referrers; a tenth has a query. The aim is at most 1.5 µs for a click.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

use std::fs;
use std::hint::black_box;
use std::time::Duration;

use kurz::clicks::classify::agent::AgentParser;
use kurz::clicks::classify::{Classifier, ClassifierSettings};
use kurz_core::analytics::EventBatch;
use kurz_core::clicks::{Click, ClickFlags, HashedText, QueuedClicks, pack_language};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;
use kurz_test_support::rng::Rng;

const CLICKS: usize = 1_000_000;
const BATCH: usize = 12_500;
const SEED: u64 = 7;
const LINKS: u64 = 5_000;
const VISITORS: u64 = 40_000;
const AGENTS: u64 = 1_500;
const REFERRERS: u64 = 3_000;
const LANGUAGES: [&str; 6] = ["de-DE,de;q=0.9", "en-US,en;q=0.5", "es", "fr-CA", "pt-BR", "zh-CN"];
const HOSTS: [&str; 5] = ["google.de", "t.co", "l.facebook.com", "chatgpt.com", "news.example"];

fn main() {
    let clicks = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(CLICKS);
    let agents = agents();

    let before = cpu();
    let parser = AgentParser::compile();
    println!("compiling the rules: {:.1} ms", millis(since(before)));

    let distinct: Vec<String> = (0..2_000)
        .map(|number| format!("{} Unseen/{number}", agents[number % agents.len()]))
        .collect();
    // The first texts also fill the caches of the regular expressions.
    for agent in &distinct[..500] {
        black_box(parser.parse(agent.as_bytes()));
    }
    let before = cpu();
    for agent in &distinct[500..] {
        black_box(parser.parse(agent.as_bytes()));
    }
    println!("a user agent that was never seen: {:.1} µs", micros(since(before), 1_500));

    let settings = ClassifierSettings { seed: SEED, ..ClassifierSettings::default() };
    let mut classifier = Classifier::new(settings).unwrap();
    let mut random = Rng::new(1);
    let mut spent = Duration::ZERO;
    let mut done = 0;
    // The first batches warm the caches.
    for turn in 0..8 + clicks.div_ceil(BATCH) {
        let queued = batch(&mut random, &agents);
        let mut events = EventBatch::default();
        let before = cpu();
        classifier.classify(
            &queued,
            &|link| Some(u64::try_from(link.0).unwrap() % 16),
            &mut events,
        );
        let took = since(before);
        assert_eq!(black_box(&events).len(), queued.clicks.len());
        if turn >= 8 {
            spent += took;
            done += queued.clicks.len();
        }
    }
    println!("a click, of {done}: {:.3} µs", micros(spent, done));
}

fn agents() -> Vec<String> {
    let system =
        ["Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64"];
    (0..AGENTS)
        .map(|number| match number % 3 {
            0 => format!(
                "Mozilla/5.0 ({}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36",
                system[usize::try_from(number / 3 % 3).unwrap()],
                80 + number / 3 % 60,
            ),
            1 => format!(
                "Mozilla/5.0 (Linux; Android {}; SM-{number}) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/126.0.0.0 Mobile Safari/537.36",
                8 + number % 8,
            ),
            _ => format!(
                "Mozilla/5.0 (iPhone; CPU iPhone OS {}_{} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like \
                 Gecko) Version/17.{} Mobile/15E148 Safari/604.1",
                12 + number % 6,
                number % 7,
                number % 11,
            ),
        })
        .collect()
}

fn batch(random: &mut Rng, agents: &[String]) -> QueuedClicks {
    let mut queued = QueuedClicks::default();
    for _ in 0..BATCH {
        let visitor = random.below(VISITORS);
        let agent = &agents[usize::try_from(visitor % AGENTS).unwrap()];
        let referrer = match random.below(4) {
            0 => String::new(),
            1 => format!("r{}.example", random.below(REFERRERS)),
            _ => HOSTS[usize::try_from(random.below(5)).unwrap()].to_owned(),
        };
        let query = match random.below(10) {
            0 => format!("utm_source=news&utm_campaign=c{}", random.below(50)),
            _ => String::new(),
        };
        let language = LANGUAGES[usize::try_from(visitor % 6).unwrap()];
        let mut intern =
            |text: &str| queued.texts.intern(HashedText::hashed(text.as_bytes(), SEED));
        let click = Click {
            person: visitor + 1,
            // Addresses all over the world.
            net: (visitor.wrapping_mul(0x9e37_79b9) & 0xffff_ffff) | 1,
            language: pack_language(language.as_bytes()),
            agent: intern(agent),
            referrer: intern(&referrer),
            query: intern(&query),
            host: intern("kurz.example"),
            flags: ClickFlags::DETAILS,
            ..Click::new(
                LinkId(i64::try_from(random.below(LINKS)).unwrap()),
                Timestamp::from_ms(1_000),
                20_000,
            )
        };
        queued.clicks.push(click);
    }
    queued
}

/// CPU time of this thread: the first figure of `schedstat`, in nanoseconds.
fn cpu() -> Duration {
    // The kernel brings the figure up to date when the thread is switched.
    std::thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

fn since(before: Duration) -> Duration {
    cpu().saturating_sub(before)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn micros(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(u32::try_from(count).unwrap())
}
