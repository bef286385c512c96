//! The database and its connections; `store` opens it.
//!
//! Invariant: the number of connections and the time of a statement have upper bounds.

use std::path::PathBuf;
use std::time::Duration;

use super::setting::settings;
use super::store_url::{self, StoreUrl};
use super::value_parser::{bytes, choice, number, path, span};

/// TLS for connections to PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreTls {
    /// Plain text.
    Off,
    /// Encrypted if the server supports it; its certificate is not checked.
    Prefer,
    /// Encrypted; the certificate is not checked.
    Require,
    /// Encrypted; the certificate and the host name in it are checked.
    Verify,
}

settings! {
    /// The database and its connections.
    pub struct StoreConfig {
        /// The database: an SQLite file for one instance, PostgreSQL for many.
        "store" => url: StoreUrl = store_url::parser().or("sqlite://kurz.db"),
        /// Maximum size of an SQLite file that is checked page by page at each start; larger ones
        /// are checked by `kurz doctor`.
        "check_bytes" => check_bytes: u64 = bytes(0..=1 << 40).or("64MiB"),
        /// Maximum number of open database connections. An SQLite store has four at most for look-ups and
        /// four for lists, and at least one of each.
        "pool_size" => pool_size: usize = number(1..=1000).or("10"),
        /// Number of idle PostgreSQL connections that are kept open.
        "pool_idle" => pool_idle: usize = number(0..=1000).or("2"),
        /// How long one statement may run before it is cancelled; on SQLite, a statement that reads.
        "statement_timeout" => statement_timeout: Duration =
            span(Duration::from_millis(10)..=Duration::from_hours(1)).or("5s"),
        /// TLS for connections to PostgreSQL; only `verify` checks the server's certificate.
        "store_tls" => tls: StoreTls = choice([
            ("off", StoreTls::Off),
            ("prefer", StoreTls::Prefer),
            ("require", StoreTls::Require),
            ("verify", StoreTls::Verify),
        ]).or("prefer"),
        /// A PEM file with the certificate authorities for PostgreSQL and Redis.
        "tls_ca" => tls_ca: Option<PathBuf> = path().or_none("the public ones, compiled in"),
        /// A PostgreSQL replica that reads links that are not cached; everything else goes to the
        /// store.
        "replica" => replica: Option<StoreUrl> =
            store_url::postgres().or_none("none: the store is read"),
    }
}
