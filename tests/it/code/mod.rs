//! Short codes and canonical URLs, over HTTP and against other implementations.

mod canonical;
mod deterministic;
mod docs;
mod vectors;
