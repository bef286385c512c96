//! What the store holds.

use std::path::Path;

use rusqlite::Connection;

/// What the tables say of redirects, each in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) total: u64,
    pub(crate) by_link: u64,
    pub(crate) by_hour: u64,
    pub(crate) log_rows: u64,
}

pub(crate) fn stored(folder: &Path) -> Stored {
    let db = Connection::open(folder.join("kurz.db")).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    let number = |sql: &str| {
        let number: i64 = db.query_row(sql, [], |row| row.get(0)).unwrap();
        u64::try_from(number).unwrap()
    };
    Stored {
        total: number("select count from totals where name = 'redirects'"),
        by_link: number("select coalesce(sum(redirect_count), 0) from link_stats"),
        by_hour: number("select coalesce(sum(hits), 0) from link_hours"),
        log_rows: number("select count(*) from click_log"),
    }
}
