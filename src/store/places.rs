//! What a redirect needs of a link, by the address it was asked for. Every cache miss comes here.

use crate::store::driver::statements;
use crate::store::links::read_reason;
use crate::store::value::{Row, Value};
use crate::store::{Error, Store, seal};
use kurz_core::link::lifecycle::Lifecycle;
use kurz_core::link::{LinkId, Month};
use kurz_core::time::Timestamp;

macro_rules! place_columns {
    () => {
        "l.id, l.target, l.redirect_status, l.created_at, l.expires_at, l.deleted_at, l.purged_at,
         coalesce(l.hit_limit, w.hit_limit), coalesce(s.month, 0), coalesce(s.month_hits, 0),
         l.workspace, l.code, l.expired_at, l.disabled_reason, l.seal
         from links l join workspaces w on w.id = l.workspace
         left join link_stats s on s.link_id = l.id"
    };
}

statements! {
    /// By the bare code on the main host.
    BY_MAIN_CODE = concat!("select ", place_columns!(),
        " where l.code = $1 and l.main_since is not null");
    BY_WORKSPACE = concat!("select ", place_columns!(), " where l.workspace = $1 and l.code = $2");
}

/// A link, as far as a redirect is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number.
    pub id: LinkId,
    /// Where it leads.
    pub target: String,
    /// 301, 302, 307 or 308.
    pub redirect_status: u16,
    /// When it was made.
    pub created_at: Timestamp,
    /// The times that decide.
    pub life: Lifecycle,
    /// Hits a month, if the link or its workspace has a limit of its own.
    pub hit_limit: Option<i64>,
    /// The month that `month_hits` counts.
    pub month: Month,
    /// Hits in that month, as far as they have been written.
    pub month_hits: i64,
    /// Whose it is.
    pub workspace: String,
    /// Its code.
    pub code: String,
}

impl Store {
    /// The link behind a key: `code` on the main host, or `workspace/code`.
    pub async fn find_place(&self, key: &str) -> Result<Option<Place>, Error> {
        let (sql, params) = match key.split_once('/') {
            None => (BY_MAIN_CODE, vec![Value::text(key)]),
            Some((workspace, code)) => {
                (BY_WORKSPACE, vec![Value::text(workspace), Value::text(code)])
            }
        };
        if let Some(replica) = &self.replica
            && let Some(row) = replica.find(key, sql, &params).await
        {
            return read_place(&row, key).map(Some);
        }
        let row = self.db.find(sql, &params).await?;
        row.map(|row| read_place(&row, key)).transpose()
    }
}

/// The row of `key`, once it is sure that it is that and what was stored.
fn read_place(row: &Row, key: &str) -> Result<Place, Error> {
    let (id, workspace, code) = (LinkId(row.int(0)?), row.text(10)?, row.text(11)?);
    let asked = match key.split_once('/') {
        None => code == key,
        Some(asked) => (workspace, code) == asked,
    };
    if !asked {
        return Err(seal::strayed(id, key));
    }
    seal::expect(id, workspace, code, row.text(1)?, row.opt_int(14)?)?;
    Ok(Place {
        id,
        target: row.text(1)?.to_owned(),
        redirect_status: u16::try_from(row.int(2)?)
            .map_err(|_| Error::Corrupt("a redirect status is out of range".to_owned()))?,
        created_at: row.time(3)?,
        life: Lifecycle {
            expires_at: row.opt_time(4)?,
            expired_at: row.opt_time(12)?,
            deleted_at: row.opt_time(5)?,
            purged_at: row.opt_time(6)?,
            withheld: read_reason(row.opt_text(13)?)?,
        },
        hit_limit: row.opt_int(7)?,
        month: Month::from_number(row.int(8)?),
        month_hits: row.int(9)?,
        workspace: workspace.to_owned(),
        code: code.to_owned(),
    })
}
