//! Any lines as the look and text of a QR code.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| kurz_fuzz::targets::picture(input));
