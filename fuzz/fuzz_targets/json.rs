//! Any bytes as the body of a call.

#![no_main]

use std::sync::LazyLock;

#[path = "../src/json.rs"]
#[expect(dead_code, reason = "the names are for the test of the corpus")]
mod json;

/// In a folder of this process; those of earlier ones are for the system to clear away.
static WORLD: LazyLock<json::World> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("kurz-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder for temporary files can be written to");
    json::World::open(&folder)
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| json::json(&WORLD, input));
