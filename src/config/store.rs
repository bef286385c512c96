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
        /// Up to which size an SQLite file is checked page by page at each start; larger ones by
        /// `kurz doctor`.
        "check_bytes" => check_bytes: u64 = bytes(0..=1 << 40).or("64MiB"),
        /// How many connections to the database are open at once.
        "pool_size" => pool_size: usize = number(1..=1000).or("10"),
        /// How many connections to PostgreSQL are kept open though nobody needs them.
        "pool_idle" => pool_idle: usize = number(0..=1000).or("2"),
        /// How long one statement may run before it is given up.
        "statement_timeout" => statement_timeout: Duration =
            span(Duration::from_millis(10)..=Duration::from_hours(1)).or("5s"),
        /// How connections to PostgreSQL are protected; `verify` alone shows that it is the right
        /// server.
        "store_tls" => tls: StoreTls = choice([
            ("off", StoreTls::Off),
            ("prefer", StoreTls::Prefer),
            ("require", StoreTls::Require),
            ("verify", StoreTls::Verify),
        ]).or("prefer"),
        /// A PEM file with the certificate authorities that PostgreSQL and Redis are believed by.
        "tls_ca" => tls_ca: Option<PathBuf> = file().or_none("the public ones, compiled in"),
        /// A PostgreSQL replica that reads the links that are not in memory; all else goes to the
        /// store.
        "replica" => replica: Option<StoreUrl> =
            store_url::postgres().or_none("none: the store reads them"),
    }
}

/// The path of a file.
fn file() -> Rule<PathBuf> {
    Rule::new(ValueForm::Text, "the path of a file", |text| {
        (!text.is_empty() && !text.contains('\0')).then(|| PathBuf::from(text))
    })
}
