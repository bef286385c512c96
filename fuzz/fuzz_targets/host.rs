//! Any text as target and Host fields.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| kurz_fuzz_targets::targets::host(input));
