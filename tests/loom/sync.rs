//! What `src/sync.rs` gives to the program, from loom.

pub(crate) use loom::sync::{Arc, Mutex, MutexGuard, atomic};
pub(crate) use std::sync::PoisonError;
