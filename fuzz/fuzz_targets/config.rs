//! Any lines as the environment.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| kurz_fuzz_targets::targets::config(input));
