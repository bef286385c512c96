//! Atomics, locks and reference counts of the types that threads share on the redirect path. With the feature
//! `loom` they are loom's, so that `tests/loom.rs` can try every interleaving of their operations.
//! Only types that are model-checked there use this module.

#[cfg(feature = "loom")]
pub(crate) use loom::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(feature = "loom"))]
pub(crate) use std::sync::{Mutex, MutexGuard, atomic};

pub(crate) use std::sync::PoisonError;
