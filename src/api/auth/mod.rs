//! Registering, signing in and out: one endpoint a file, and what a sign-in answers with.

pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod register;
mod wire;

pub(crate) use wire::{SessionBody, UserBody};
