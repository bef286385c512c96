//! The pages in a real Chromium: what people see and do. `./scripts/test` brings Chromium, its driver and
//! axe-core.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "in a test, what is not there is a failure"
)]

mod accessibility;
mod account;
mod analytics;
mod browser;
mod form_errors;
mod hostile_text;
mod hostile_visits;
mod links;
mod reports;
mod rules;
mod site;
mod whole_words;
mod workspaces;
