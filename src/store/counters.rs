//! Numbers that are never given twice: link ids and counter codes. An instance takes a block at a
//! time; what it has not used when it ends is a gap, never a repeat.

use crate::store::driver::{Step, statements};
use crate::store::value::SqlValue;
use crate::store::{Error, Store};

statements! {
    /// The first number that nobody holds yet.
    NEXT = "select next from counters where name = $1";
    /// Take a block; `next` comes back after it.
    TAKE = "update counters set next = next + $1 where name = $2 returning next";
}

impl Store {
    /// Take `count` numbers of `name`, one of the `counters`; the first of them.
    pub async fn take_numbers(&self, name: &'static str, count: i64) -> Result<i64, Error> {
        let step = Step::new(TAKE, [SqlValue::Int(count), SqlValue::text(name)]);
        let rows = self.db.write(step).await?;
        let row = rows.first().ok_or_else(|| missing(name))?;
        Ok(row.int(0)? - count)
    }

    /// The first number of `name` that nobody holds.
    pub async fn next_number(&self, name: &'static str) -> Result<i64, Error> {
        let row = self.db.find(NEXT, &[SqlValue::text(name)]).await?;
        row.ok_or_else(|| missing(name))?.int(0)
    }
}

fn missing(name: &str) -> Error {
    Error::Corrupt(format!("the counter `{name}` is missing"))
}
