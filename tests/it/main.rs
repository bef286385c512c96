//! Tests across modules, on real servers.

mod canon_differential;
mod vectors;
