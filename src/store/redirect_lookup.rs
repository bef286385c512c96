//! The look-up of a redirect that misses the cache: what it needs of a link, by the link's address.

use crate::store::aliases::{aliased, leads_to};
use crate::store::driver::{Sql, statements};
use crate::store::events::privacy::{narrower, read_mode};
use crate::store::links::read_reason;
use crate::store::plans::{read_defaults, read_plan};
use crate::store::text::Piece::{Selected as Columns, Text};
use crate::store::text::{Selected, position, text};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store, row_checksum};
use kurz_core::analytics::AnalyticsMode;
use kurz_core::link::lifecycle::Lifecycle;
use kurz_core::link::{AddressKey, LinkId, Month, StoredPlan};
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
    Selected { name: "alias_of", expression: "l.alias_of" },
    Selected { name: "link_mode", expression: "l.analytics_mode" },
    Selected { name: "workspace_mode", expression: "w.analytics_mode" },
    Selected { name: "version", expression: "l.version" },
    Selected {
        name: "title",
        expression: "case when l.plan_at is null then null else l.title end",
    },
    Selected { name: "plan_at", expression: "l.plan_at" },
    Selected { name: "plan", expression: PLAN },
    Selected { name: "plan_keys", expression: PLAN_KEYS },
    Selected { name: "uses", expression: USES },
    Selected { name: "failures", expression: FAILURES },
    Selected { name: "defaults", expression: "w.link_defaults" },
    Selected { name: "defaults_checksum", expression: "w.link_defaults_checksum" },
];

/// Selects inside a case are not run for a link that has no plan.
const PLAN: &str = "case when l.plan_at is null then null
    else (select p.plan from link_plans p where p.link_id = l.id) end";
const PLAN_KEYS: &str = "case when l.plan_at is null then null
    else (select p.keys from link_plans p where p.link_id = l.id) end";
const USES: &str = "case when l.plan_at is null then 0
    else coalesce((select u.uses from link_uses u where u.link_id = l.id), 0) end";
const FAILURES: &str = "case when l.plan_at is null then 0
    else coalesce((select h.failures from link_health h where h.link_id = l.id), 0) end";
/// Where a column is in [`COLUMNS`].
macro_rules! at {
    ($column:ident) => {
        const { position(COLUMNS, stringify!($column)) }
    };
}

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
    /// The link of an alias.
    BY_ID = redirect_text!(" where l.id = $1");
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
    /// The narrower of what the link and its workspace keep about visitors; `None`: what the server says.
    pub details: Option<AnalyticsMode>,
    pub version: i64,
    /// Of a link with a plan, for its card.
    pub title: Option<String>,
    pub plan: Option<StoredPlan>,
    /// How often a link with a click limit was followed.
    pub uses: u64,
    /// How many checks of the target of a link with a plan failed in a row.
    pub failures: u64,
    /// What holds in its workspace for links that say nothing else, in JSON.
    pub defaults: Option<String>,
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
        let Some(row) = self.find_row(key, sql, &params).await? else { return Ok(None) };
        check_row(&row, key)?;
        let Some(link) = aliased(row.opt_int(at!(alias_of))?) else {
            return read_redirect_row(&row).map(Some);
        };
        let row = self.find_row(key, BY_ID, &[SqlValue::Int(link.0)]).await?;
        let Some(row) = row else { return Ok(None) };
        if row.int(at!(id))? != link.0 {
            return Err(row_checksum::wrong_row(link, key.as_str()));
        }
        read_redirect_row(&row).map(Some)
    }

    async fn find_row(
        &self,
        key: &AddressKey<'_>,
        sql: Sql,
        params: &[SqlValue<'_>],
    ) -> Result<Option<SqlRow>, Error> {
        if let Some(replica) = &self.replica
            && let Some(row) = replica.find(key, sql, params).await
        {
            return Ok(Some(row));
        }
        self.db.find(sql, params).await
    }
}

/// Fail unless the row is the one of `key`.
fn check_row(row: &SqlRow, key: &AddressKey<'_>) -> Result<(), Error> {
    let (asked_workspace, asked_code) = key.parts();
    let (workspace, code) = (row.text(at!(workspace))?, row.text(at!(code))?);
    if code != asked_code || asked_workspace.is_some_and(|asked| workspace != asked) {
        return Err(row_checksum::wrong_row(LinkId(row.int(at!(id))?), key.as_str()));
    }
    let alias_of = row.opt_int(at!(alias_of))?;
    if alias_of.is_some() {
        let (id, leads_to) = (LinkId(row.int(at!(id))?), leads_to("", alias_of));
        let stored = row.opt_int(at!(row_checksum))?;
        row_checksum::expect(id, workspace, code, &leads_to, None, stored)?;
    }
    Ok(())
}

/// The row of a link, as it was stored.
fn read_redirect_row(row: &SqlRow) -> Result<RedirectRow, Error> {
    let (id, target) = (LinkId(row.int(at!(id))?), row.text(at!(target))?);
    let (workspace, code) = (row.text(at!(workspace))?, row.text(at!(code))?);
    let plan = read_plan(row, at!(plan_at), at!(plan), at!(plan_keys))?;
    if row.opt_int(at!(alias_of))?.is_none() {
        let stored = row.opt_int(at!(row_checksum))?;
        row_checksum::expect(id, workspace, code, target, plan.as_ref(), stored)?;
    }
    let count = |column| Ok::<u64, Error>(u64::try_from(row.int(column)?).unwrap_or_default());
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
        details: narrower(
            read_mode(row.opt_text(at!(link_mode))?)?,
            read_mode(row.opt_text(at!(workspace_mode))?)?,
        ),
        version: row.int(at!(version))?,
        title: row.opt_text(at!(title))?.map(str::to_owned),
        plan,
        uses: count(at!(uses))?,
        failures: count(at!(failures))?,
        defaults: read_defaults(row, workspace, at!(defaults), at!(defaults_checksum))?,
    })
}
