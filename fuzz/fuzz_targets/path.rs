//! Any text as the path of a request.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| kurz_fuzz_targets::targets::path(input));
