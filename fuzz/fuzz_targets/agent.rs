//! Any bytes as user agent, purpose and referrer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kurz_fuzz_targets::targets::agent(input));
