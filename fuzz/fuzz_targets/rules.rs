//! Query, `Accept-Language`, `Referer` and the JSON of a plan.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| kurz_fuzz_targets::rules::rules(input));
