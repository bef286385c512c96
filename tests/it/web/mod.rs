//! The pages over HTTP. Those that need a browser are in `tests/browser`.

mod headers;
mod pages;
mod reports;
mod sessions;
mod visible_text;
