//! The gate: the instructions of kurz per redirect, over a real connection, compared with the baseline
//! in `benches/gate/baseline.txt`. More than 5 % above it fails.
//!
//! ```text
//! cargo bench --profile gate --bench gate [-- --update]
//! ```
//!
//! kurz runs under valgrind's callgrind, which counts the instructions of each thread: the worker's
//! are those of its redirects. It is run twice, for a small and for a large number of them, and
//! what it takes to start and to stop cancels out. Requests go one by one, each after the answer to the
//! one before. Counts vary far less than times, so that they can be compared on a busy machine; they
//! are user space alone, and those of the emulated processor.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

mod count;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use count::instructions;

const FEW: usize = 1_000;
const MANY: usize = 4_000;
/// The tolerated growth.
const MARGIN: f64 = 1.05;

const BARE: &str = "";
/// `DNT: 0` consents: every detail of the click is read.
const BROWSER: &str = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n\
    Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n\
    Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nDNT: 0\r\n\
    Connection: keep-alive\r\nReferer: https://social.example/feed\r\nUpgrade-Insecure-Requests: 1\r\n\
    Sec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Site: cross-site\r\nPriority: u=0, i\r\n";

/// The same of a visitor who asks not to be tracked: of their click less is read.
const PRIVATE: &str = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n\
    Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n\
    Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nSec-GPC: 1\r\n\
    Connection: keep-alive\r\nReferer: https://social.example/feed\r\nUpgrade-Insecure-Requests: 1\r\n\
    Sec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Site: cross-site\r\nPriority: u=0, i\r\n";

fn main() -> ExitCode {
    let update = std::env::args().any(|arg| arg == "--update");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/gate/baseline.txt");
    let known = fs::read_to_string(&file).unwrap_or_default();
    let mut fresh = String::new();
    let mut passes = true;
    let plan = plan();
    for (name, fields, plan) in [
        ("bare", BARE, None),
        ("browser", BROWSER, None),
        ("private", PRIVATE, None),
        ("planned", BROWSER, Some(&*plan)),
    ] {
        let few = instructions(fields, plan, FEW);
        let many = instructions(fields, plan, MANY);
        let one = (many - few) / (MANY - FEW) as u64;
        let _ = writeln!(fresh, "{name} {one}");
        let before = known.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        passes &= compare_with_baseline(name, one, before);
    }
    if update {
        fs::write(&file, fresh).unwrap();
        println!("{} is up to date.", file.display());
    }
    if passes || update { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Eight rules with two tests of four values each, all of them compared; the last one holds.
fn plan() -> String {
    let rule = |number: usize| {
        let languages = if number == 8 { "en-US" } else { "pt" };
        format!(
            "{{\"name\":\"rule {number}\",\"when\":{{\"os\":[\"linux\",\"windows\",\"macos\",\"android\"],\
             \"language\":[\"es\",\"fr\",\"it\",\"{languages}\"]}},\"to\":\"https://example.com/{number}\"}}"
        )
    };
    let rules: Vec<String> = (1..=8).map(rule).collect();
    format!("{{\"rules\":[{}]}}", rules.join(","))
}

/// Print the figure of a redirect; returns whether it is within the tolerance.
fn compare_with_baseline(name: &str, one: u64, before: Option<u64>) -> bool {
    let Some(before) = before else {
        println!(
            "A redirect with a {name} head takes {one} instructions, and nothing is known to compare with: run it with `-- --update`."
        );
        return false;
    };
    let ratio = one as f64 / before as f64;
    let percent = (ratio - 1.0) * 100.0;
    println!("A redirect with a {name} head takes {one} instructions ({percent:+.1} %).");
    if ratio > MARGIN {
        println!(
            "That is more than 5 % above the {before} of benches/gate/baseline.txt: find out what \
             costs it, or, if it is worth that, run `cargo bench --profile gate --bench gate -- \
             --update` and say why in the commit."
        );
    }
    ratio <= MARGIN
}
