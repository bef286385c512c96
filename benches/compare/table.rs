//! The result, as a Markdown table of medians.

use crate::load::Sample;

pub(crate) fn print(names: &[String], samples: &[Vec<Sample>]) {
    println!("| | req/s | × nginx | user µs | × nginx | system µs | p50 ms | p99 ms | memory MB |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, own) in names.iter().zip(samples) {
        let of = |pick: fn(&Sample) -> f64| median(own.iter().map(pick).collect());
        let ratio = |pick: fn(&Sample) -> f64| {
            let rounds = own.iter().zip(&samples[0]);
            median(rounds.map(|(own, first)| pick(own) / pick(first)).collect())
        };
        println!(
            "| {name} | {:.0} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} |",
            of(|it| it.per_second),
            ratio(|it| it.per_second),
            of(|it| it.user_us),
            ratio(|it| it.user_us),
            of(|it| it.system_us),
            of(|it| it.p50_ms),
            of(|it| it.p99_ms),
            of(|it| it.memory_mb),
        );
    }
}

/// What `own` needs in comparison with `other`, round by round.
pub(crate) fn print_ratio(name: &str, own: &[Sample], other: &[Sample]) {
    let ratio = |pick: fn(&Sample) -> f64| {
        median(own.iter().zip(other).map(|(own, other)| pick(own) / pick(other)).collect())
    };
    println!(
        "\n{name}: {:.3} times the requests a second, {:.3} times the user and {:.3} times the whole CPU time, median of {} rounds.",
        ratio(|it| it.per_second),
        ratio(|it| it.user_us),
        ratio(|it| it.user_us + it.system_us),
        own.len(),
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
