//! The inputs that are kept for the fuzz targets (`fuzz/corpus`), through the same functions that the fuzzer
//! calls: what it found once stays fixed.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "in a test, what is not there is a failure"
)]

use std::collections::BTreeSet;

use kurz::net::host;
use kurz::redirect::visitor_kind;
use kurz::web as cell;
use kurz::{account, clicks, clock, code, config, link};

#[path = "../fuzz/src/json.rs"]
#[expect(unreachable_pub, reason = "it is made for the crate of the fuzz targets")]
mod json;
#[path = "../fuzz/src/targets.rs"]
#[expect(unreachable_pub, reason = "they are public in the crate of the fuzz targets")]
mod targets;

/// Every file of a target, and how many there must be at least.
fn each(target: &str, mut check: impl FnMut(&[u8])) {
    let folder = format!("{}/fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 4, "{target} has its inputs");
    for file in files {
        check(&std::fs::read(file).unwrap());
    }
}

fn each_text(target: &str, check: fn(&str)) {
    each(target, |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            check(text);
        }
    });
}

#[test]
fn what_was_found_stays_fixed() {
    each_text("canon", targets::canon);
    each_text("path", targets::path);
    each_text("host", targets::host);
    each_text("token", targets::token);
    each_text("config", targets::config);
    each_text("picture", targets::picture);
    each_text("csv", targets::csv);
    each("agent", targets::agent);
}

// threats: C18
#[test]
fn no_body_is_taken_that_the_document_does_not_allow() {
    let folder = tempfile::tempdir().unwrap();
    let world = json::World::open(folder.path());
    let mut without: BTreeSet<String> = world.names().map(str::to_owned).collect();
    each("json", |bytes| {
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        without.remove(std::str::from_utf8(&bytes[..end]).unwrap());
        json::json(&world, bytes);
    });
    assert!(without.is_empty(), "calls without an input of their own: {without:?}");
}
