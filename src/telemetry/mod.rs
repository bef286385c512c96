//! Traceability of the control plane: request ids, one tracing span per request, the access log and
//! the export of spans over OTLP. Redirects have neither id nor span; the access log can list them.
//!
//! Invariants: nothing here fails or delays a request. What a queue cannot hold is dropped and
//! counted. No token, key, cookie or query string is logged or exported.

pub(crate) mod access_log;
mod error_chain;
mod otlp;
mod request_span;
mod request_id;
mod trace_parent;

pub(crate) use error_chain::error_chain;
pub(crate) use request_id::{RequestId, RequestIds};
pub(crate) use request_span::{Telemetry, current_request_id, set_caller, trace_request};
