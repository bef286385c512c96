//! Links over HTTP: one endpoint a file, and the shape that a link has on the wire.

pub(crate) mod aliases;
pub(crate) mod analytics;
pub(crate) mod bulk;
pub(crate) mod claim;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod disable;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod plan_shapes;
pub(crate) mod plan_wire;
pub(crate) mod qr;
pub(crate) mod restore;
pub(crate) mod rules;
pub(crate) mod show;
pub(crate) mod simulate;
pub(crate) mod split;
mod wire;

pub(crate) use wire::{CreatedBody, EditBody, LinkBody, NewLinkBody};
