//! What must hold for any input, one function for each fuzz target. The fuzzer (`fuzz/fuzz_targets`) calls them,
//! and so does `tests/corpus.rs` with the inputs that are kept in `fuzz/corpus`.

pub mod json;
pub mod rules;
pub mod targets;
mod tree;
