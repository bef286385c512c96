//! The pages: over HTTP where that is enough, in a real Chromium where it is about what people see
//! and do. `./scripts/test` brings Chromium, its driver and axe-core.

mod abuse;
mod account;
mod browser;
mod front;
mod guard;
mod headers;
mod hostile;
mod links;
mod look;
mod plain;
mod poison;
mod stage;
mod workspaces;

pub(crate) use stage::post as post_form;
