//! Keys of visitors' hashes, one for each period. All instances use the one that was stored first.
//!
//! Invariant: a key is nowhere but in this table and in the memory of running processes, and is removed soon
//! after its period. SQLite overwrites what it removes (`secure_delete`), and the write-ahead log is emptied
//! afterwards.

use crate::store::driver::{Step, statements};
use crate::store::value::SqlValue;
use crate::store::{Error, Store};
use kurz_core::time::Timestamp;

statements! {
    /// The first writer wins; all instances then read the same.
    KEEP = "insert into visitor_keys (period_kind, period_start, period_end, secret)
        values ($1, $2, $3, $4) on conflict do nothing";
    FIND = "select secret from visitor_keys where period_kind = $1 and period_start = $2";
    REMOVE = "delete from visitor_keys where period_end <= $1 returning period_start";
}

/// A period, and the key that its visitors are hashed with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VisitorPeriodKey {
    /// `day`, `week` or `month`.
    pub kind: &'static str,
    pub start: Timestamp,
    pub end: Timestamp,
    pub key: [u8; 16],
}

impl std::fmt::Debug for VisitorPeriodKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VisitorPeriodKey({} from {})", self.kind, self.start)
    }
}

impl Store {
    /// The stored key of the period of `fresh`, or `fresh`, kept from now on.
    pub async fn visitor_key_or_keep(
        &self,
        fresh: VisitorPeriodKey,
    ) -> Result<VisitorPeriodKey, Error> {
        if let Some(key) = self.find_visitor_key(fresh).await? {
            return Ok(VisitorPeriodKey { key, ..fresh });
        }
        let params = [
            SqlValue::text(fresh.kind),
            fresh.start.into(),
            fresh.end.into(),
            SqlValue::blob(&fresh.key),
        ];
        self.db.write(Step::new(KEEP, params)).await?;
        let key = self.find_visitor_key(fresh).await?;
        let key = key.ok_or_else(|| Error::Corrupt("a visitor key was not kept".to_owned()))?;
        Ok(VisitorPeriodKey { key, ..fresh })
    }

    async fn find_visitor_key(&self, of: VisitorPeriodKey) -> Result<Option<[u8; 16]>, Error> {
        let row = self.db.find(FIND, &[SqlValue::text(of.kind), of.start.into()]).await?;
        let Some(row) = row else { return Ok(None) };
        let key = <[u8; 16]>::try_from(row.blob(0)?);
        key.map(Some).map_err(|_| Error::Corrupt("a visitor key has not 16 bytes".to_owned()))
    }

    /// Destroy the keys of periods that ended before `before`; how many there were.
    pub async fn destroy_visitor_keys(&self, before: Timestamp) -> Result<usize, Error> {
        let destroyed = self.db.write(Step::new(REMOVE, [before.into()])).await?.len();
        if destroyed > 0 {
            // The log still has the pages that held them.
            self.checkpoint().await;
        }
        Ok(destroyed)
    }
}
