//! New links, and revived ones. One link and a thousand are stored the same way, in one transaction.
//!
//! Invariant: whether a code is free is decided by the unique indexes, inside the insert itself.
//! A purged link keeps its row, so the same indexes guard its code for good. Whether the workspace and the
//! owner exist is decided in the same statement or transaction, so no deletion can miss a link.

use crate::store::aliases::drop_purged_step;
use crate::store::driver::{Outcome, Step, statements};
use crate::store::link_columns::{FIELD_COLUMNS, LINK_COLUMNS, at, field_values, join_tags};
use crate::store::live_rows::{live_workspace, live_workspace_text};
use crate::store::plans::plan_step;
use crate::store::row_checksum::row_checksum;
use crate::store::text::Piece::{Assignments, Names, Params, Text};
use crate::store::text::text;
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::account::UserId;
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{LinkFields, LinkId, LinkOrigin, Month, StoredPlan, Strategy};
use kurz_core::time::Timestamp;

/// Where the columns of the fields begin.
const FIRST_FIELD: usize = LINK_COLUMNS.len() - FIELD_COLUMNS.len();
/// The columns around `workspace`, which is the last one of an insert that looks for it.
const BEFORE_WORKSPACE: &[&str] = LINK_COLUMNS.split_at(at!(workspace)).0;
const AFTER_WORKSPACE: &[&str] = LINK_COLUMNS.split_at(at!(workspace) + 1).1;
/// The first parameter of `REVIVE` after those of the fields.
const AFTER_FIELDS: usize = 9 + FIELD_COLUMNS.len();

statements! {
    /// Changes nothing when the code, the bare code on the main host or, for a deterministic link,
    /// its URL is taken. It reads nothing back: for a statement that does, SQLite first copies
    /// every page it is about to change.
    INSERT = text!(
        Text("insert into links ("),
        Names(LINK_COLUMNS),
        Text(") values ("),
        Params(1, LINK_COLUMNS.len()),
        Text(") on conflict do nothing"),
    );
    /// A link by itself, in one round trip: without its workspace, or its owner, there is nothing to put
    /// into a column that is not null, and it fails.
    INSERT_ALONE = live_workspace_text!(
        Text("insert into links ("),
        Names(BEFORE_WORKSPACE),
        Text(", "),
        Names(AFTER_WORKSPACE),
        Text(", workspace) values ("),
        Params(1, LINK_COLUMNS.len() - 1),
        Text(", (");
        at!(owner_id), LINK_COLUMNS.len();
        Text(")) on conflict do nothing")
    );
    /// Bring back a link that is deleted, expired or purged, for the URL it always led to; not one
    /// that was disabled.
    REVIVE = text!(
        Text("update links set strategy = $1, target = $2, created_at = $3, updated_at = $3,
            owner_id = $4, made_key = $5, made_from = $6, row_checksum = $7, plan_at = $8, claim_hash = null,
            deleted_at = null, expired_at = null, purged_at = null, version = version + 1, "),
        Assignments(FIELD_COLUMNS, 9),
        Text(" where workspace = "),
        Params(AFTER_FIELDS, 1),
        Text(" and code = "),
        Params(AFTER_FIELDS + 1, 1),
        Text(" and canonical_hash = "),
        Params(AFTER_FIELDS + 2, 1),
        Text(" and disabled_at is null
            and (deleted_at is not null or expired_at is not null or purged_at is not null
                or expires_at <= $3)
        returning id, main_since"),
    );
    /// Before a revival, on the same condition.
    UNTAG_DEAD = "delete from link_tags where link_id in (select id from links where id = $1
            and canonical_hash = $2 and disabled_at is null
            and (deleted_at is not null or expired_at is not null or purged_at is not null
                or expires_at <= $3))";
    /// After a revival: the counts move to the list of the new owner.
    MOVE_STATS = "update link_stats set list_scope = (select list_scope from links where id = $1)
        where link_id = $1";
    /// Only when the link holds exactly these tags: not when its insert found the code taken.
    TAG = "insert into link_tags (workspace, tag, link_id, position)
        select workspace, cast($1 as text), id, cast($2 as bigint) from links
            where id = $3 and tags = $4
        on conflict do nothing";
    /// No row back: the month's links are used up.
    COUNT_LINK = "insert into user_months (user_id, month, links) values ($1, $2, 1)
        on conflict (user_id, month) do update set links = user_months.links + 1
        where user_months.links < $3
        returning links";
    /// The same as `INSERT` as long as the owner may choose another custom code this month.
    INSERT_CUSTOM = text!(
        Text("insert into links ("),
        Names(LINK_COLUMNS),
        Text(") select "),
        Params(1, LINK_COLUMNS.len()),
        Text(" where (select custom_codes from user_months where user_id = "),
        Params(LINK_COLUMNS.len() + 1, 1),
        Text(" and month = "),
        Params(LINK_COLUMNS.len() + 2, 1),
        Text(") < "),
        Params(LINK_COLUMNS.len() + 3, 1),
        Text(" on conflict do nothing"),
    );
    /// Changes no number: until the end of the transaction no other can choose a custom code for the
    /// same account. A statement after this one sees those that were chosen before.
    LOCK_MONTH = "insert into user_months (user_id, month, links) values ($1, $2, 0)
        on conflict (user_id, month) do update set links = user_months.links";
    /// Only for a link that was stored.
    COUNT_CUSTOM = "update user_months set custom_codes = custom_codes + 1
        where user_id = $1 and month = $2 and exists (select 1 from links where id = $3)";
    CUSTOM_CODES_IN_MONTH = "select custom_codes from user_months
        where user_id = $1 and month = $2";
    LINKS_IN_MONTH = "select links from user_months where user_id = $1 and month = $2";
}

#[derive(Clone, Debug)]
pub struct NewLink {
    /// A number from [`Store::take_numbers`]; for a revival, that of the old link.
    pub id: LinkId,
    pub workspace: WorkspaceId,
    pub code: Code,
    pub strategy: Strategy,
    pub target: String,
    /// SHA-256 of the target's canonical form.
    pub canonical_hash: [u8; 32],
    pub fields: LinkFields,
    pub created_at: Timestamp,
    /// Whether it asks for its bare code on the main host, and has no place without it.
    pub wants_main: bool,
    pub owner: Option<UserId>,
    /// SHA-256 of its claim token, if it can be claimed.
    pub claim_hash: Option<[u8; 32]>,
    /// With what and from where it is made.
    pub made: LinkOrigin,
    /// Revive the deleted, expired or purged link of this code instead of inserting a row.
    pub revive: bool,
    pub plan: Option<StoredPlan>,
}

/// Where a new link ended up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InsertedLink {
    /// Its number; that of the old row for a revived link.
    pub id: LinkId,
    /// Since when it holds its bare code on the main host.
    pub main_since: Option<Timestamp>,
}

/// What became of a batch of new links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// For each link where it ended up, or `None` when a code it asked for or its URL was taken.
    Stored(Vec<Option<InsertedLink>>),
    /// None was stored, because these found a code or their URL taken.
    Undone(Vec<usize>),
    /// None was stored, because the workspace or the owner was deleted.
    Gone,
    /// None was stored, because the user made as many as they may in this month.
    OverLimit,
}

/// How many links a user may make in a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthlyLinkLimit {
    pub user: UserId,
    pub month: Month,
    pub limit: i64,
}

impl Store {
    /// Store links in one transaction; with `all_or_none`, only if every one finds its place.
    pub async fn insert_links(
        &self,
        links: &[&NewLink],
        all_or_none: bool,
    ) -> Result<Inserted, Error> {
        self.insert_links_within(links, all_or_none, None).await
    }

    /// The same, and custom codes that are new count against `limit`: a link beyond it is not stored.
    pub async fn insert_links_within(
        &self,
        links: &[&NewLink],
        all_or_none: bool,
        limit: Option<MonthlyLinkLimit>,
    ) -> Result<Inserted, Error> {
        let is_counted = |link: &NewLink| link.strategy == Strategy::Custom && !link.revive;
        let limit = limit.filter(|_| links.iter().any(|link| is_counted(link)));
        // In the order of their keys: neighbours in the index are written together, and two
        // transactions that want the same codes want them in the same order.
        let mut order: Vec<(usize, &NewLink)> = links.iter().copied().enumerate().collect();
        order.sort_by_key(|(_, link)| link.code.as_str());
        if let [link] = links
            && !link.revive
            && link.fields.tags.is_empty()
            && link.plan.is_none()
            && limit.is_none()
        {
            return self.insert_alone(link).await;
        }

        let gates = gates(links);
        let gate_count = gates.len();
        let mut steps = Vec::with_capacity(gate_count + links.len());
        steps.extend(gates);
        // The link whose place a step's row tells; `None` for tags.
        steps.extend(limit.map(lock_month_step));
        let mut owners = vec![None; steps.len()];
        for (at, link) in order {
            if link.revive {
                steps.push(drop_purged_step(link.id));
                owners.push(None);
                let dead = [
                    SqlValue::Int(link.id.0),
                    SqlValue::blob(&link.canonical_hash),
                    link.created_at.into(),
                ];
                steps.push(Step::new(UNTAG_DEAD, dead));
                owners.push(None);
            }
            let limit = limit.filter(|_| is_counted(link));
            let step = match limit {
                _ if link.revive => revive_step(link),
                Some(limit) => insert_custom_step(row_of(link), limit),
                None => insert_step(link),
            };
            steps.push(if all_or_none { step.or_undo() } else { step });
            owners.push(Some(at));
            if link.revive {
                steps.push(Step::new(MOVE_STATS, [SqlValue::Int(link.id.0)]));
            }
            steps.extend(limit.map(|limit| count_custom_step(limit, link.id)));
            steps.extend(steps_after(link));
            owners.resize(steps.len(), None);
        }
        match self.db.batch(steps).await? {
            Outcome::Done(rows) => {
                let mut placed = vec![None; links.len()];
                for (owner, rows) in owners.into_iter().zip(rows) {
                    let Some((at, row)) = owner.zip(rows.first()) else { continue };
                    if let (Some(place), Some(link)) = (placed.get_mut(at), links.get(at)) {
                        *place = Some(place_of(link, row)?);
                    }
                }
                Ok(Inserted::Stored(placed))
            }
            Outcome::Undone(missed) if missed.iter().any(|at| *at < gate_count) => {
                Ok(Inserted::Gone)
            }
            Outcome::Undone(missed) => {
                let owner = |at| owners.get(at).copied().flatten();
                Ok(Inserted::Undone(missed.into_iter().filter_map(owner).collect()))
            }
        }
    }

    /// Store a link that has neither tags nor a plan, in one statement.
    async fn insert_alone(&self, link: &NewLink) -> Result<Inserted, Error> {
        let mut row = row_of(link);
        let workspace = row.remove(at!(workspace));
        row.push(workspace);
        match self.db.write(Step::new(INSERT_ALONE, row)).await {
            Ok(rows) => {
                let placed = rows.first().map(|row| place_of(link, row));
                Ok(Inserted::Stored(vec![placed.transpose()?]))
            }
            Err(error) if matches!(error.kind(), Error::Dangling(_)) => Ok(Inserted::Gone),
            Err(error) => Err(error),
        }
    }

    /// Store a link and count it against a monthly limit, both or neither.
    pub async fn insert_within_limit(
        &self,
        link: &NewLink,
        meter: MonthlyLinkLimit,
    ) -> Result<Inserted, Error> {
        let params = [
            SqlValue::Int(meter.user.0),
            SqlValue::Int(meter.month.number()),
            SqlValue::Int(meter.limit),
        ];
        let mut steps = vec![
            live_workspace(&link.workspace, link.owner),
            Step::new(COUNT_LINK, params).or_undo(),
            insert_step(link).or_undo(),
        ];
        steps.extend(steps_after(link));
        match self.db.batch(steps).await? {
            Outcome::Done(rows) => {
                let row = rows.get(2).and_then(|rows| rows.first());
                let placed = row.map(|row| place_of(link, row));
                Ok(Inserted::Stored(vec![placed.transpose()?]))
            }
            Outcome::Undone(missed) if missed.contains(&0) => Ok(Inserted::Gone),
            Outcome::Undone(missed) if missed.contains(&1) => Ok(Inserted::OverLimit),
            Outcome::Undone(_) => Ok(Inserted::Undone(vec![0])),
        }
    }

    /// How many custom codes a user chose in a month, where they are counted.
    pub async fn custom_codes_in_month(&self, user: UserId, month: Month) -> Result<i64, Error> {
        let params = [SqlValue::Int(user.0), SqlValue::Int(month.number())];
        let row = self.db.find(CUSTOM_CODES_IN_MONTH, &params).await?;
        row.map_or(Ok(0), |row| row.int(0))
    }

    /// How many links a user made in a month, of those that were counted.
    pub async fn links_in_month(&self, user: UserId, month: Month) -> Result<i64, Error> {
        let params = [SqlValue::Int(user.0), SqlValue::Int(month.number())];
        let row = self.db.find(LINKS_IN_MONTH, &params).await?;
        row.map_or(Ok(0), |row| row.int(0))
    }
}

/// What must exist for links to be made: one step for each pair of an owner and a workspace, of which a
/// request has one.
fn gates(links: &[&NewLink]) -> Vec<Step> {
    let mut pairs: Vec<_> = links.iter().map(|link| (link.owner, &link.workspace)).collect();
    pairs.sort_by_key(|(owner, workspace)| (owner.map(|owner| owner.0), workspace.as_str()));
    pairs.dedup();
    pairs.into_iter().map(|(owner, workspace)| live_workspace(workspace, owner)).collect()
}

/// Before links with custom codes are stored within `limit`.
pub(super) fn lock_month_step(limit: MonthlyLinkLimit) -> Step {
    Step::new(LOCK_MONTH, [SqlValue::Int(limit.user.0), SqlValue::Int(limit.month.number())])
}

/// Store a row with a custom code, if `limit` permits.
pub(super) fn insert_custom_step(row: Vec<SqlValue<'_>>, limit: MonthlyLinkLimit) -> Step {
    let limit = [
        SqlValue::Int(limit.user.0),
        SqlValue::Int(limit.month.number()),
        SqlValue::Int(limit.limit),
    ];
    Step::new(INSERT_CUSTOM, row.into_iter().chain(limit))
}

/// After it, if it was stored.
pub(super) fn count_custom_step(limit: MonthlyLinkLimit, id: LinkId) -> Step {
    let (user, month) = (SqlValue::Int(limit.user.0), SqlValue::Int(limit.month.number()));
    Step::new(COUNT_CUSTOM, [user, month, SqlValue::Int(id.0)])
}

pub(super) fn insert_step(link: &NewLink) -> Step {
    insert_row_step(row_of(link))
}

pub(super) fn insert_row_step(row: Vec<SqlValue<'_>>) -> Step {
    Step::new(INSERT, row)
}

/// The values of the columns, in the order of [`LINK_COLUMNS`].
pub(super) fn row_of(link: &NewLink) -> Vec<SqlValue<'_>> {
    let values = [
        (at!(id), SqlValue::Int(link.id.0)),
        (at!(workspace), SqlValue::text(link.workspace.as_str())),
        (at!(code), SqlValue::text(link.code.as_str())),
        (at!(strategy), SqlValue::text(link.strategy.as_str())),
        (at!(target), SqlValue::text(&link.target)),
        (at!(canonical_hash), SqlValue::blob(&link.canonical_hash)),
        (at!(created_at), link.created_at.into()),
        (at!(updated_at), link.created_at.into()),
        (at!(main_since), main_since(link).into()),
        (at!(version), SqlValue::Int(1)),
        (at!(owner_id), link.owner.map(|owner| owner.0).into()),
        (at!(claim_hash), link.claim_hash.as_ref().map(|hash| SqlValue::blob(hash)).into()),
        (at!(made_key), link.made.key.map(|key| key.0).into()),
        (at!(made_from), link.made.client.as_deref().into()),
        (at!(row_checksum), checksum_of(link)),
        (at!(plan_at), plan_at(link).into()),
    ];
    let mut row = vec![SqlValue::Null; LINK_COLUMNS.len()];
    for (column, value) in values.into_iter().chain((FIRST_FIELD..).zip(field_values(&link.fields)))
    {
        if let Some(place) = row.get_mut(column) {
            *place = value;
        }
    }
    row
}

fn revive_step(link: &NewLink) -> Step {
    let start = [
        SqlValue::text(link.strategy.as_str()),
        SqlValue::text(&link.target),
        link.created_at.into(),
        link.owner.map(|owner| owner.0).into(),
        link.made.key.map(|key| key.0).into(),
        link.made.client.as_deref().into(),
        checksum_of(link),
        plan_at(link).into(),
    ];
    let end = [
        SqlValue::text(link.workspace.as_str()),
        SqlValue::text(link.code.as_str()),
        SqlValue::blob(&link.canonical_hash),
    ];
    Step::new(REVIVE, start.into_iter().chain(field_values(&link.fields)).chain(end))
}

/// What is written once the link's row is.
fn steps_after(link: &NewLink) -> impl Iterator<Item = Step> {
    let stats = link.revive.then(|| Step::new(MOVE_STATS, [SqlValue::Int(link.id.0)]));
    let has_plan_step = link.revive || link.plan.is_some();
    let plan = has_plan_step.then(|| plan_step(link.id, link.plan.as_ref(), checksum_of(link)));
    stats.into_iter().chain(plan).chain(tag_steps(link.id, &link.fields.tags))
}

fn checksum_of(link: &NewLink) -> SqlValue<'static> {
    let (workspace, code) = (link.workspace.as_str(), link.code.as_str());
    row_checksum(link.id, workspace, code, &link.target, link.plan.as_ref())
}

fn plan_at(link: &NewLink) -> Option<Timestamp> {
    link.plan.as_ref().map(|_| link.created_at)
}

/// The rows by which a link is found under its tags, once its `tags` column holds them.
pub(super) fn tag_steps(id: LinkId, tags: &[String]) -> impl Iterator<Item = Step> {
    let joined = join_tags(tags);
    (0..).zip(tags).map(move |(position, tag)| {
        let (tag, position) = (SqlValue::text(tag), SqlValue::Int(position));
        Step::new(TAG, [tag, position, SqlValue::Int(id.0), joined.as_deref().into()])
    })
}

fn main_since(link: &NewLink) -> Option<Timestamp> {
    link.wants_main.then_some(link.created_at)
}

/// Where a link is that was stored: a new one where it asked to be, a revived one where its row was.
pub(super) fn place_of(link: &NewLink, row: &SqlRow) -> Result<InsertedLink, Error> {
    if link.revive {
        Ok(InsertedLink { id: LinkId(row.int(0)?), main_since: row.opt_time(1)? })
    } else {
        Ok(InsertedLink { id: link.id, main_since: main_since(link) })
    }
}
