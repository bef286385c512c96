//! Secrets that kurz generates at its first start and keeps: the salt of the counter codes and
//! what sign-in tokens are signed with. Of a salt that was set only a fingerprint is kept.

use crate::store::driver::{Step, statements};
use crate::store::value::SqlValue;
use crate::store::{Error, Store};
use kurz_core::time::Timestamp;

statements! {
    FIND_SECRET = "select value from secrets where name = $1";
    /// The first writer wins; all instances then read the same.
    KEEP_SECRET = "insert into secrets (name, value, created_at) values ($1, $2, $3)
                   on conflict (name) do nothing";
    REPLACE_SECRET = "insert into secrets (name, value, created_at) values ($1, $2, $3)
        on conflict (name) do update set value = excluded.value,
            created_at = excluded.created_at
        where secrets.value <> excluded.value";
}

impl Store {
    /// The secret `name`, or `fresh`, kept from now on.
    pub async fn secret_or_keep(
        &self,
        name: &'static str,
        fresh: &str,
        now: Timestamp,
    ) -> Result<String, Error> {
        if let Some(secret) = self.find_secret(name).await? {
            return Ok(secret);
        }
        let params = [SqlValue::text(name), SqlValue::text(fresh), now.into()];
        self.db.write(Step::new(KEEP_SECRET, params)).await?;
        let kept = self.find_secret(name).await?;
        kept.ok_or_else(|| Error::Corrupt(format!("the secret `{name}` was not kept")))
    }

    /// Keep `value` under `name` in place of what was there.
    pub async fn replace_secret(
        &self,
        name: &'static str,
        value: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        let params = [SqlValue::text(name), SqlValue::text(value), now.into()];
        self.db.write(Step::new(REPLACE_SECRET, params)).await.map(|_| ())
    }

    pub async fn find_secret(&self, name: &'static str) -> Result<Option<String>, Error> {
        let row = self.db.find(FIND_SECRET, &[SqlValue::text(name)]).await?;
        row.map(|row| row.text(0).map(str::to_owned)).transpose()
    }
}
