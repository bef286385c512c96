//! The look-up of a redirect that misses the cache: what it needs of a link, by the link's address.

use crate::store::driver::statements;
use crate::store::links::read_reason;
use crate::store::text::Piece::{Selected as Columns, Text};
use crate::store::text::{Selected, position, text};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store, row_checksum};
use kurz_core::link::lifecycle::Lifecycle;
use kurz_core::link::{AddressKey, LinkId, Month};
use kurz_core::time::Timestamp;

const COLUMNS: &[Selected] = &[
    Selected { name: "id", expression: "l.id" },
    Selected { name: "workspace", expression: "l.workspace" },
    Selected { name: "code", expression: "l.code" },
    Selected { name: "target", expression: "l.target" },
    Selected { name: "row_checksum", expression: "l.row_checksum" },
    Selected { name: "redirect_status", expression: "l.redirect_status" },
    Selected { name: "created_at", expression: "l.created_at" },
    Selected { name: "expires_at", expression: "l.expires_at" },
    Selected { name: "expired_at", expression: "l.expired_at" },
    Selected { name: "deleted_at", expression: "l.deleted_at" },
    Selected { name: "purged_at", expression: "l.purged_at" },
    Selected { name: "disabled_reason", expression: "l.disabled_reason" },
    Selected { name: "hit_limit", expression: "coalesce(l.hit_limit, w.hit_limit)" },
    Selected { name: "month", expression: "coalesce(s.month, 0)" },
    Selected { name: "month_hits", expression: "coalesce(s.month_hits, 0)" },
];

const TABLES: &str = " from links l join workspaces w on w.id = l.workspace
    left join link_stats s on s.link_id = l.id";

macro_rules! redirect_text {
    ($which:literal) => {
        text!(Text("select "), Columns(COLUMNS), Text(TABLES), Text($which))
    };
}

statements! {
    /// By the bare code on the main host.
    BY_MAIN_CODE = redirect_text!(" where l.code = $1 and l.main_since is not null");
    BY_WORKSPACE = redirect_text!(" where l.workspace = $1 and l.code = $2");
}

/// A link, as far as a redirect is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectRow {
    pub id: LinkId,
    pub target: String,
    /// 301, 302, 307 or 308.
    pub redirect_status: u16,
    pub created_at: Timestamp,
    pub life: Lifecycle,
    /// Hits a month, if the link or its workspace has a limit of its own.
    pub hit_limit: Option<i64>,
    /// The month that `month_hits` counts.
    pub month: Month,
    /// Hits in that month, as far as they have been written.
    pub month_hits: i64,
    pub workspace: String,
    pub code: String,
}

impl Store {
    pub async fn find_redirect_row(
        &self,
        key: &AddressKey<'_>,
    ) -> Result<Option<RedirectRow>, Error> {
        let (sql, params) = match key.parts() {
            (None, code) => (BY_MAIN_CODE, vec![SqlValue::text(code)]),
            (Some(workspace), code) => {
                (BY_WORKSPACE, vec![SqlValue::text(workspace), SqlValue::text(code)])
            }
        };
        if let Some(replica) = &self.replica
            && let Some(row) = replica.find(key, sql, &params).await
        {
            return read_redirect_row(&row, key).map(Some);
        }
        let row = self.db.find(sql, &params).await?;
        row.map(|row| read_redirect_row(&row, key)).transpose()
    }
}

/// Where a column is in [`COLUMNS`].
macro_rules! at {
    ($column:ident) => {
        const { position(COLUMNS, stringify!($column)) }
    };
}

/// The row of `key`, checked: it is the one asked for, and as it was stored.
fn read_redirect_row(row: &SqlRow, key: &AddressKey<'_>) -> Result<RedirectRow, Error> {
    let (id, target) = (LinkId(row.int(at!(id))?), row.text(at!(target))?);
    let (workspace, code) = (row.text(at!(workspace))?, row.text(at!(code))?);
    let (asked_workspace, asked_code) = key.parts();
    if code != asked_code || asked_workspace.is_some_and(|asked| workspace != asked) {
        return Err(row_checksum::wrong_row(id, key.as_str()));
    }
    row_checksum::expect(id, workspace, code, target, row.opt_int(at!(row_checksum))?)?;
    Ok(RedirectRow {
        id,
        target: target.to_owned(),
        redirect_status: row.small_int(at!(redirect_status))?,
        created_at: row.time(at!(created_at))?,
        life: Lifecycle {
            expires_at: row.opt_time(at!(expires_at))?,
            expired_at: row.opt_time(at!(expired_at))?,
            deleted_at: row.opt_time(at!(deleted_at))?,
            purged_at: row.opt_time(at!(purged_at))?,
            withheld: read_reason(row.opt_text(at!(disabled_reason))?)?,
        },
        hit_limit: row.opt_int(at!(hit_limit))?,
        month: Month::from_number(row.int(at!(month))?),
        month_hits: row.int(at!(month_hits))?,
        workspace: workspace.to_owned(),
        code: code.to_owned(),
    })
}
