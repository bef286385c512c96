//! Work that goes on beside the requests. A job decides when; what is done then is `app`'s.

pub mod cleanup;
pub mod flush;
pub mod health;
pub mod presence;
pub mod tend;
