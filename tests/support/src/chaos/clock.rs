//! The machine's clock is wrong, or jumps. libfaketime stands between the program and the
//! system's wall clock; the clock that only goes forward is left alone.

use std::fs;
use std::path::PathBuf;

use crate::process::Program;

/// Where Debian's package `libfaketime` puts it.
fn library() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").unwrap().map(|entry| entry.unwrap().path());
    let mut found = folders.map(|folder| folder.join("faketime/libfaketime.so.1"));
    found
        .find(|file| file.exists())
        .expect("libfaketime is installed (Debian's package libfaketime)")
}

pub fn faked(program: Program) -> Program {
    program
        .env("LD_PRELOAD", library().to_str().unwrap())
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("FAKETIME_DONT_RESET", "1")
}

/// The same program on a machine whose clock is off by so much, such as `+5m`.
pub fn shifted(program: Program, by: &str) -> Program {
    faked(program).env("FAKETIME", by)
}
