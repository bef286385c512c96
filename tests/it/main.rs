//! Tests across modules, on real servers.
