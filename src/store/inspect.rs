//! Looking at a store without changing it: not even its tables are brought up to date.

use crate::config::{StoreConfig, StoreUrl};
use crate::store::driver::Db;
use crate::store::migrate::{self, SchemaState};
use crate::store::{Error, Store, connect_postgres, name_file, sqlite};
use kurz_core::time::Timestamp;

impl Store {
    /// How far a store's tables have come. What is not there is not made.
    pub async fn inspect(config: &StoreConfig) -> Result<SchemaState, Error> {
        match &config.url {
            // An empty file is what a start leaves that was interrupted at once.
            StoreUrl::Sqlite(path) if path.metadata().map_or(true, |file| file.len() == 0) => {
                Ok(SchemaState::Missing)
            }
            StoreUrl::Sqlite(path) => {
                let inspected =
                    sqlite::connect_reader(path).and_then(|db| migrate::inspect_sqlite(&db, path));
                inspected.map_err(|error| name_file(path, error))
            }
            StoreUrl::Postgres(url) => {
                let (_, client) = connect_postgres(url, config).await?;
                migrate::inspect_postgres(&client).await
            }
        }
    }

    /// What time it is for the database; `None` when it has no clock but this machine's.
    pub async fn now(&self) -> Result<Option<Timestamp>, Error> {
        match &self.db {
            Db::Sqlite(_) => Ok(None),
            Db::Postgres(db) => db.now().await.map(Some),
        }
    }
}
