//! Plans of links, the uses of links with a click limit, and what workspaces say for all of their links.
//!
//! Invariants: a plan is written in the transaction that changes its link, whose checksum covers it. The uses of a
//! link never pass its click limit and never go back.

use xxhash_rust::xxh64::xxh64;

use crate::store::driver::{Outcome, Step, statements};
use crate::store::row_checksum::damaged;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, NewAuditEntry, Store};
use kurz_core::code::WorkspaceId;
use kurz_core::link::{LinkId, StoredPlan};
use kurz_core::time::Timestamp;

/// How many uses are taken: `$2` is the limit, `$3` what is asked for.
macro_rules! taken {
    ($limit:literal, $asked:literal) => {
        concat!(
            "(case when uses >= cast(",
            $limit,
            " as bigint) then 0
                when ",
            $limit,
            " - uses < cast(",
            $asked,
            " as bigint) then ",
            $limit,
            " - uses
                else ",
            $asked,
            " end)"
        )
    };
}

statements! {
    /// Only for the link that holds exactly this plan: not when its insert found the code taken, or it could
    /// not be revived.
    PUT = "insert into link_plans (link_id, plan, keys, version)
        select id, $1, $2, version from links
        where id = $3 and row_checksum = $4
        on conflict (link_id) do update set plan = excluded.plan, keys = excluded.keys,
            version = excluded.version",
        on_postgres "insert into link_plans (link_id, plan, keys, version)
        select id, cast($1 as text), cast($2 as bytea), version from links
        where id = $3 and row_checksum = $4
        on conflict (link_id) do update set plan = excluded.plan, keys = excluded.keys,
            version = excluded.version";
    DROP = "delete from link_plans where link_id = $1
        and exists (select 1 from links where id = $1 and plan_at is null)";
    LIST = "select p.link_id, l.workspace, l.code, p.plan, p.keys, l.target
        from link_plans p join links l on l.id = p.link_id
        where p.link_id > $1 order by p.link_id limit $2";
    LIST_OF_WORKSPACE = "select l.id, l.code, p.plan from links l join link_plans p on p.link_id = l.id
        where l.workspace = $1 and l.plan_at is not null and l.id > $2
            and l.deleted_at is null and l.disabled_at is null and l.expired_at is null
        order by l.id limit $3";
    FIND_USES = "select uses from link_uses where link_id = $1";
    BEGIN_USES = "insert into link_uses (link_id, uses, taken)
        select id, 0, 0 from links where id = $1 and purged_at is null
        on conflict (link_id) do nothing";
    TAKE_USES = concat!("update link_uses set taken = ", taken!("$1", "$2"), ",
            uses = uses + ", taken!("$1", "$2"), "
        where link_id = $3 returning taken, uses");
    FIND_DEFAULTS = "select link_defaults, link_defaults_checksum from workspaces
        where id = $1 and deleted_at is null";
    SET_DEFAULTS = "update workspaces set link_defaults = $1, link_defaults_checksum = $2,
            updated_at = $3
        where id = $4 and deleted_at is null returning id";
}

/// The plan of a link, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPlan {
    pub link: LinkId,
    pub workspace: String,
    pub code: String,
    pub target: String,
    pub plan: StoredPlan,
}

/// The plan of a link of one workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspacePlan {
    pub link: LinkId,
    pub code: String,
    pub document: String,
}

/// Uses that were taken of a link with a click limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenUses {
    /// At most as many as were asked for.
    pub taken: u64,
    /// All uses so far.
    pub uses: u64,
}

impl Store {
    /// Plans of links with numbers after `after`, in the order of the numbers.
    pub async fn list_plans(&self, after: LinkId, most: i64) -> Result<Vec<ListedPlan>, Error> {
        let rows = self.db.list(LIST, vec![SqlValue::Int(after.0), SqlValue::Int(most)]).await?;
        let read = |row: &SqlRow| {
            Ok(ListedPlan {
                link: LinkId(row.int(0)?),
                workspace: row.text(1)?.to_owned(),
                code: row.text(2)?.to_owned(),
                plan: StoredPlan {
                    document: row.text(3)?.to_owned(),
                    keys: row.blob(4)?.to_owned(),
                },
                target: row.text(5)?.to_owned(),
            })
        };
        rows.iter().map(read).collect()
    }

    /// The plans of the links of a workspace that redirect, in the order of their numbers.
    pub async fn list_workspace_plans(
        &self,
        workspace: &str,
        after: LinkId,
        most: i64,
    ) -> Result<Vec<WorkspacePlan>, Error> {
        let params = vec![SqlValue::text(workspace), SqlValue::Int(after.0), SqlValue::Int(most)];
        let rows = self.db.list(LIST_OF_WORKSPACE, params).await?;
        let read = |row: &SqlRow| {
            let (link, code) = (LinkId(row.int(0)?), row.text(1)?.to_owned());
            Ok(WorkspacePlan { link, code, document: row.text(2)?.to_owned() })
        };
        rows.iter().map(read).collect()
    }

    /// How often a link with a click limit was followed.
    pub async fn find_uses(&self, link: LinkId) -> Result<u64, Error> {
        let row = self.db.find(FIND_USES, &[SqlValue::Int(link.0)]).await?;
        row.map_or(Ok(0), |row| count(&row, 0))
    }

    /// Take at most `asked` uses of a link under `limit`, all instances together; `None` when it is purged.
    pub async fn take_uses(
        &self,
        link: LinkId,
        limit: u64,
        asked: u64,
    ) -> Result<Option<TakenUses>, Error> {
        let int = |count: u64| SqlValue::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let steps = vec![
            Step::new(BEGIN_USES, [SqlValue::Int(link.0)]),
            Step::new(TAKE_USES, [int(limit), int(asked), SqlValue::Int(link.0)]),
        ];
        let Outcome::Done(rows) = self.db.batch(steps).await? else { return Ok(None) };
        let row = rows.get(1).and_then(|rows| rows.first());
        row.map(|row| Ok(TakenUses { taken: count(row, 0)?, uses: count(row, 1)? })).transpose()
    }

    /// What a workspace says for all of its links, in JSON.
    pub async fn find_link_defaults(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<Option<String>, Error> {
        let row = self.db.find(FIND_DEFAULTS, &[SqlValue::text(workspace.as_str())]).await?;
        row.map_or(Ok(None), |row| read_defaults(&row, workspace.as_str(), 0, 1))
    }

    /// Set what a workspace says for all of its links; `false` when there is no such workspace.
    pub async fn set_link_defaults(
        &self,
        workspace: &WorkspaceId,
        defaults: Option<&str>,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let checksum = defaults.map(|text| defaults_checksum(workspace.as_str(), text));
        let params =
            [defaults.into(), checksum.into(), now.into(), SqlValue::text(workspace.as_str())];
        Ok(!self.write_audited(Step::new(SET_DEFAULTS, params), change).await?.is_empty())
    }
}

/// Makes `plan` the plan of a link whose row was just written with `checksum`.
pub(super) fn plan_step(
    link: LinkId,
    plan: Option<&StoredPlan>,
    checksum: SqlValue<'static>,
) -> Step {
    let id = SqlValue::Int(link.0);
    match plan {
        Some(StoredPlan { document, keys }) => {
            Step::new(PUT, [SqlValue::text(document), SqlValue::blob(keys), id, checksum])
        }
        None => Step::new(DROP, [id]),
    }
}

/// The plan in a row; fails when `plan_at` says that there is one, and there is none.
pub(super) fn read_plan(
    row: &SqlRow,
    plan_at: usize,
    plan: usize,
    keys: usize,
) -> Result<Option<StoredPlan>, Error> {
    if !row.has(plan_at) {
        return Ok(None);
    }
    let Some(document) = row.opt_text(plan)? else {
        return Err(damaged("the plan of a link is missing".to_owned()));
    };
    Ok(Some(StoredPlan { document: document.to_owned(), keys: row.blob(keys)?.to_owned() }))
}

/// The defaults of a workspace, if they match their checksum.
pub(super) fn read_defaults(
    row: &SqlRow,
    workspace: &str,
    defaults: usize,
    checksum: usize,
) -> Result<Option<String>, Error> {
    let Some(text) = row.opt_text(defaults)? else { return Ok(None) };
    if row.opt_int(checksum)? == Some(defaults_checksum(workspace, text)) {
        return Ok(Some(text.to_owned()));
    }
    Err(damaged(format!("the link defaults of workspace {workspace} do not match their checksum")))
}

fn defaults_checksum(workspace: &str, text: &str) -> i64 {
    let text = [workspace, "\0", text].concat();
    i64::from_ne_bytes(xxh64(text.as_bytes(), 0).to_ne_bytes())
}

fn count(row: &SqlRow, column: usize) -> Result<u64, Error> {
    Ok(u64::try_from(row.int(column)?).unwrap_or_default())
}
