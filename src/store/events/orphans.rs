//! Addresses on a workspace's hosts that lead nowhere: a row of `day_sums` for each day, under a dimension of its
//! own. Sums of events leave that dimension out.
//!
//! Invariant: a row is replaced only by whoever read it as it is, so that no instance undoes what another one
//! added.

use std::ops::RangeInclusive;

use crate::store::driver::{Step, statements};
use crate::store::events::sums::day_params;
use crate::store::value::SqlValue;
use crate::store::{Error, Store};
use kurz_core::code::WorkspaceId;

statements! {
    FIND = "select data from day_sums where workspace = $1 and day = $2 and dimension = 200";
    LIST = "select data from day_sums
        where workspace = $1 and day >= $2 and day <= $3 and dimension = 200 order by day";
    INSERT = "insert into day_sums (workspace, day, dimension, data) values ($1, $2, 200, $3)
        on conflict (workspace, day, dimension) do nothing returning day";
    REPLACE = "update day_sums set data = $1
        where workspace = $2 and day = $3 and dimension = 200 and data = $4 returning day";
    REMOVE = "delete from day_sums
        where workspace = $1 and day >= $2 and day <= $3 and dimension = 200";
}

impl Store {
    pub async fn find_orphans(
        &self,
        workspace: &WorkspaceId,
        day: i64,
    ) -> Result<Option<Vec<u8>>, Error> {
        let params = [SqlValue::text(workspace.as_str()), SqlValue::Int(day)];
        let row = self.db.find(FIND, &params).await?;
        row.map(|row| Ok(row.blob(0)?.to_vec())).transpose()
    }

    pub async fn list_orphans(
        &self,
        workspace: &WorkspaceId,
        days: RangeInclusive<i64>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let rows = self.db.list(LIST, day_params(workspace, &days).to_vec()).await?;
        rows.iter().map(|row| Ok(row.blob(0)?.to_vec())).collect()
    }

    /// Store the orphans of a day in the place of those that were read before; `false` when they are not there
    /// any more.
    pub async fn replace_orphans(
        &self,
        workspace: &WorkspaceId,
        day: i64,
        before: Option<Vec<u8>>,
        data: Vec<u8>,
    ) -> Result<bool, Error> {
        let (place, data) = (SqlValue::text(workspace.as_str()), SqlValue::Blob(data.into()));
        let step = match before {
            None => Step::new(INSERT, [place, SqlValue::Int(day), data]),
            Some(before) => {
                let before = SqlValue::Blob(before.into());
                Step::new(REPLACE, [data, place, SqlValue::Int(day), before])
            }
        };
        Ok(!self.db.write(step).await?.is_empty())
    }

    pub async fn remove_orphans(
        &self,
        workspace: &WorkspaceId,
        days: RangeInclusive<i64>,
    ) -> Result<(), Error> {
        self.db.write(Step::new(REMOVE, day_params(workspace, &days))).await.map(|_| ())
    }
}
