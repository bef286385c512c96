//! Instances: the processes that serve this store, and when each was last seen. For the
//! administrator's page; nothing is decided by it.

use crate::store::driver::{Step, statements};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::time::Timestamp;

statements! {
    BEAT = "insert into instances (name, version, started_at, seen_at) values ($1, $2, $3, $4)
        on conflict (name) do update set seen_at = excluded.seen_at";
    /// Those that ended without saying so.
    SWEEP = "delete from instances where seen_at < $1";
    LEAVE = "delete from instances where name = $1";
    LIST = "select name, version, started_at, seen_at from instances order by started_at, name
        limit $1";
}

/// A process that serves a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub name: String,
    pub version: String,
    pub started_at: Timestamp,
    pub seen_at: Timestamp,
}

impl Store {
    /// Write down that an instance is there, and remove those not seen since `forget`.
    pub async fn note_instance(&self, one: &Instance, forget: Timestamp) -> Result<(), Error> {
        let params = [
            SqlValue::text(&one.name),
            SqlValue::text(&one.version),
            one.started_at.into(),
            one.seen_at.into(),
        ];
        let steps = vec![Step::new(SWEEP, [forget.into()]), Step::new(BEAT, params)];
        self.db.batch(steps).await.map(|_| ())
    }

    pub async fn drop_instance(&self, name: &str) -> Result<(), Error> {
        self.db.write(Step::new(LEAVE, [SqlValue::text(name)])).await.map(|_| ())
    }

    pub async fn list_instances(&self, most: i64) -> Result<Vec<Instance>, Error> {
        let rows = self.db.list(LIST, vec![SqlValue::Int(most)]).await?;
        let read = |row: &SqlRow| {
            Ok(Instance {
                name: row.text(0)?.to_owned(),
                version: row.text(1)?.to_owned(),
                started_at: row.time(2)?,
                seen_at: row.time(3)?,
            })
        };
        rows.iter().map(read).collect()
    }
}
