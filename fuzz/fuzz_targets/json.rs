//! Any bytes as the body of a call.

#![no_main]

use std::sync::LazyLock;

use kurz_fuzz_targets::json::{World, json};

/// In a temporary folder of this process, which is not removed.
static WORLD: LazyLock<World> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("kurz-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder for temporary files can be written to");
    World::open(&folder)
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| json(&WORLD, input));
