//! Background jobs on many instances.

mod cleanup;
