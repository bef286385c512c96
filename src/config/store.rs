//! The store: which database holds the links, and how it is reached. Opening it is `store`'s part.
//!
//! Invariant: the number of connections and the time of a statement have upper bounds.

use std::time::Duration;

use super::rule::{number, span};
use super::setting::settings;
use super::store_url::{self, StoreUrl};

settings! {
    /// Which database, and how it is reached.
    pub struct StoreConfig {
        /// The database: an SQLite file for one instance, PostgreSQL for many.
        "store" => url: StoreUrl = store_url::rule().or("sqlite://kurz.db"),
        /// How many connections to the database are open at once.
        "pool_size" => pool_size: usize = number(1..=1000).or("10"),
        /// How long one statement may run before it is given up.
        "statement_timeout" => statement_timeout: Duration =
            span(Duration::from_millis(10)..=Duration::from_hours(1)).or("5s"),
    }
}
