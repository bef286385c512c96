//! Links over HTTP: one endpoint a file, and the shape that a link has on the wire.

pub(crate) mod bulk;
pub(crate) mod claim;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod disable;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod qr;
pub(crate) mod restore;
pub(crate) mod show;
pub(crate) mod stats;
mod wire;

pub(crate) use wire::{CreatedBody, EditBody, LinkBody, NewLinkBody};
