//! Any lines as size, colours and text of a QR code.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &str| kurz_fuzz_targets::targets::qr(input));
