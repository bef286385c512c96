//! The `kurz` program.
fn main() {}
