//! Hit quotas: how often a link may be followed in a UTC calendar month. In process: exact for the
//! one instance that serves an SQLite file.

mod quota;

pub use quota::Quota;
