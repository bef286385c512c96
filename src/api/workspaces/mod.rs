//! Workspaces over HTTP: one endpoint a file, and the shape that a workspace has on the wire.

pub(crate) mod create;
pub(crate) mod defaults;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod restore;
pub(crate) mod show;
mod wire;

pub(crate) use wire::{WorkspaceBody, WorkspaceStrategy};
