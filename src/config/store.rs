//! The store: which database holds the links, and how it is reached. Opening it is `store`'s part.
//!
//! Invariant: the number of connections and the time of a statement have upper bounds.

use std::path::PathBuf;
use std::time::Duration;

use super::rule::{Rule, ValueForm, bytes, choice, number, span};
use super::setting::settings;
use super::store_url::{self, StoreUrl};

/// How a connection to PostgreSQL is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreTls {
    /// Not at all.
    Off,
    /// Encrypted if the server can; whoever it is.
    Prefer,
    /// Encrypted; whoever it is.
    Require,
    /// Encrypted, with a server that a certificate authority vouches for by its name.
    Verify,
}

settings! {
    /// Which database, and how it is reached.
    pub struct StoreConfig {
        /// The database: an SQLite file for one instance, PostgreSQL for many.
        "store" => url: StoreUrl = store_url::rule().or("sqlite://kurz.db"),
        /// Maximum size of an SQLite file that is checked page by page at each start; larger ones
        /// are checked by `kurz doctor`.
        "check_bytes" => check_bytes: u64 = bytes(0..=1 << 40).or("64MiB"),
        /// Maximum number of open database connections.
        "pool_size" => pool_size: usize = number(1..=1000).or("10"),
        /// Number of idle PostgreSQL connections that are kept open.
        "pool_idle" => pool_idle: usize = number(0..=1000).or("2"),
        /// How long one statement may run before it is cancelled.
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
        "tls_ca" => tls_ca: Option<PathBuf> = file().or_none("the public ones, compiled in"),
        /// A PostgreSQL replica that reads links that are not cached; everything else goes to the
        /// store.
        "replica" => replica: Option<StoreUrl> =
            store_url::postgres().or_none("none: the store is read"),
    }
}

/// The path of a file.
fn file() -> Rule<PathBuf> {
    Rule::new(ValueForm::Text, "the path of a file", |text| {
        (!text.is_empty() && !text.contains('\0')).then(|| PathBuf::from(text))
    })
}
