//! The server: composes the data plane, the control plane and the jobs behind the listeners of `net`.
//!
//! - [`run`]: starts everything from a [`crate::config::Config`] and shuts it down again.
//! - `parts` and `stored_secrets`: what `app` and the redirect service are made of.
//! - `dispatch` and `response_body`: short addresses go to the redirect service, all else to the router.
//! - [`routes`]: API, compatibility APIs and pages in one router.
//! - `admin`: metrics and health on the admin listener.
//! - [`blocklist_file`]: reads the block list and reloads it when its file changes.

mod admin;
pub mod blocklist_file;
mod response_body;
mod dispatch;
mod parts;
pub mod routes;
pub mod run;
mod stored_secrets;

#[cfg(test)]
mod tests;
