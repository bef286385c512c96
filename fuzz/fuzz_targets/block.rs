//! Any bytes as a block of events.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kurz_fuzz_targets::targets::block(input));
