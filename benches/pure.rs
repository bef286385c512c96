//! The pure functions on a URL of 100 bytes: time, and for `benches/instructions`, counts.
//!
//! No I/O is measured here. Invariant: both modes run the same closures, so
//! that a count explains a time.
//!
//! `cargo bench --bench pure` measures time; `benches/instructions` counts instructions.

use std::hint::black_box;

use criterion::Criterion;
use kurz_core::code::counter::{DEFAULT_MULT, LENGTH, Scramble, Scrambler};
use kurz_core::code::{WorkspaceId, canonicalise, deterministic, short_path};

/// Already in canonical form, like most URLs.
const TIDY: &str = "https://www.example.com/products/category/item-1234?\
                    page=2&ref=newsletter&sort=price&view=list-items";

/// Every step of the canonical form changes something.
const UNTIDY: &str = "HTTPS://www.Example.com:443/products//category/../%7Eitem%2f1/?\
                      view=list items&b=2&a=%41&c=#fragment";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let works = works();
    match arguments.next().as_deref() {
        Some("--count") => count(&works, arguments),
        Some("--names") => names(&works),
        _ => measure(&works),
    }
}

type Work = (&'static str, Box<dyn Fn()>);

fn works() -> Vec<Work> {
    assert_eq!((TIDY.len(), UNTIDY.len()), (100, 100), "the figures are for 100 bytes");
    let tidy = canonicalise(TIDY).expect("it is a URL");
    assert_eq!(tidy.as_str(), TIDY, "it is in canonical form");
    let workspace = WorkspaceId::parse("acme-corp").expect("it is an id");
    let both = workspace.clone();
    let scrambler = |scramble| {
        Scrambler::new(scramble, "unit_test_salt", DEFAULT_MULT, LENGTH).expect("it is one to one")
    };
    let (affine, feistel) = (scrambler(Scramble::Affine), scrambler(Scramble::Feistel));
    vec![
        work("nothing", || 0),
        work("canonicalise, tidy", || canonicalise(black_box(TIDY))),
        work("canonicalise, untidy", || canonicalise(black_box(UNTIDY))),
        work("deterministic code", move || {
            deterministic::code(black_box(&tidy), black_box(&workspace), 0)
        }),
        work("canonicalise + deterministic code, tidy", move || {
            canonicalise(black_box(TIDY)).map(|url| deterministic::code(&url, black_box(&both), 0))
        }),
        work("counter code, affine", move || affine.code(black_box(123_456_789))),
        work("counter code, feistel", move || feistel.code(black_box(123_456_789))),
        work("path, bare", || short_path::parse(black_box("/Gbg5fgTP5s"))),
        work("path, workspace", || short_path::parse(black_box("/w/acme-corp/Gbg5fgTP5s+"))),
    ]
}

fn work<T>(name: &'static str, run: impl Fn() -> T + 'static) -> Work {
    (name, Box::new(move || drop(black_box(run()))))
}

fn measure(works: &[Work]) {
    let mut criterion = Criterion::default().configure_from_args();
    for (name, run) in works {
        criterion.bench_function(name, |bencher| bencher.iter(run));
    }
    criterion.final_summary();
}

#[expect(clippy::print_stdout, reason = "the script reads the names from here")]
fn names(works: &[Work]) {
    for (name, _) in works {
        println!("{name}");
    }
}

/// Runs one closure a number of times, for the script to count.
fn count(works: &[Work], mut arguments: impl Iterator<Item = String>) {
    let name = arguments.next().unwrap_or_default();
    let times = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(0);
    for (_, run) in works.iter().filter(|(of, _)| *of == name) {
        for _ in 0..times {
            run();
        }
    }
}
