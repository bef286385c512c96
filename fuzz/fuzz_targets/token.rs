//! Any text as a credential.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| kurz_fuzz_targets::targets::token(input));
