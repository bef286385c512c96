//! Runs the fuzz targets on the inputs in `fuzz/corpus`, so that an input that failed once is tested in
//! every test run.
#![expect(clippy::unwrap_used, reason = "in a test, a missing value is a failure")]

use std::collections::BTreeSet;

use kurz_fuzz_targets::{json, rules, targets};

/// Every file of a target; there must be at least four.
fn each(target: &str, mut check: impl FnMut(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    // The calls of `json` meet what those before them left: the same on every machine.
    files.sort();
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
fn every_input_of_the_corpus_passes() {
    each_text("canon", targets::canon);
    each_text("path", targets::path);
    each_text("host", targets::host);
    each_text("token", targets::token);
    each_text("config", targets::config);
    each_text("qr", targets::qr);
    each_text("csv", targets::csv);
    each_text("rules", rules::rules);
    each("agent", targets::agent);
    each("block", targets::block);
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
