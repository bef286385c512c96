//! Any text as a URL.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| kurz_fuzz_targets::targets::canon(input));
