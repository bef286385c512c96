//! The hits of a link's month, as far as they have been written: what counting begins with where
//! nothing is counted yet.

use crate::store::driver::statements;
use crate::store::value::SqlValue;
use crate::store::{Error, Store};
use kurz_core::link::{LinkId, Month};

statements! {
    MONTH_HITS = "select month_hits from link_stats where link_id = $1 and month = $2";
}

impl Store {
    /// The hits of `link` in `month` that have been written. Never a replica's word.
    pub async fn month_hits(&self, link: LinkId, month: Month) -> Result<u64, Error> {
        let params = [SqlValue::Int(link.0), SqlValue::Int(month.number())];
        let row = self.db.find(MONTH_HITS, &params).await?;
        let hits = row.map(|row| row.int(0)).transpose()?.unwrap_or_default();
        Ok(u64::try_from(hits).unwrap_or_default())
    }
}
