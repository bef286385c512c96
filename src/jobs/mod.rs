//! Work that goes on beside the requests.

pub mod flush;
