//! The pages over HTTP. Those that need a browser are in `tests/browser`.

mod analytics;
mod headers;
mod link_fields;
mod open_mode;
mod pages;
mod reports;
mod rules;
mod sessions;
mod visible_text;
