//! Answers from memory: never older than the last change.

mod invalidation;
mod reuse;
