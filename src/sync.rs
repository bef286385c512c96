//! The atomics, locks and shared pointers behind the cells that threads share on the redirect path. Not for
//! everybody: only those files name it that `tests/loom` also compiles, where this module is loom's, and
//! every order of their steps is tried.

pub(crate) use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic};
