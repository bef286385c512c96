//! Servers to be killed, stopped and cut off: the same as in the tests of many instances.

#[path = "../../tests/it/scale/servers.rs"]
pub(crate) mod servers;
