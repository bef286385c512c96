//! Links: create, list, show, edit, delete, disable, claim, and what is made of them.

mod aliases;
mod app_files;
mod audit;
pub(crate) mod claim;
pub(crate) mod create;
pub(crate) mod disable;
pub(crate) mod draft;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod plan;
pub(crate) mod qr;
pub(crate) mod report;
pub(crate) mod retarget_alarm;
mod reuse;
pub(crate) mod search_limit;
mod short_url;
pub(crate) mod show;
pub(crate) mod simulate;
pub(crate) mod split_results;
mod sync;
mod tags;
mod target;
