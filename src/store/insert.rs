//! New links, and dead ones that come back. Batch-first: one link and a thousand take the same
//! way, in one transaction.
//!
//! Invariant: whether a code is free is decided by the unique indexes, inside the insert itself.
//! A purged link keeps its row, so the same indexes guard its code for good.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::links::join_tags;
use crate::store::seal::seal;
use crate::store::value::{Row, Value};
use crate::store::{Error, Store};
use kurz_core::account::UserId;
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{LinkId, LinkOrigin, Month, Strategy};
use kurz_core::time::Timestamp;

statements! {
    /// Changes nothing when the code, the bare code on the main host or, for a deterministic link,
    /// its URL is taken. It reads nothing back: for a statement that does, SQLite first copies
    /// every page it is about to change.
    INSERT = "insert into links (id, workspace, code, strategy, target, canonical_hash, title,
            tags, redirect_status, hit_limit, created_at, updated_at, expires_at, main_since,
            version, owner_id, claim_hash, made_key, made_from, seal)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, 1, $14, $15, $16, $17,
            $18)
        on conflict do nothing";
    /// Bring back a link that is deleted, expired or purged, for the URL it always led to; not one
    /// that was disabled.
    REVIVE = "update links set strategy = $1, target = $2, title = $3, tags = $4,
            redirect_status = $5, hit_limit = $6, created_at = $7, updated_at = $7,
            expires_at = $8, owner_id = $9, claim_hash = null, deleted_at = null,
            expired_at = null, purged_at = null, made_key = $10, made_from = $11,
            version = version + 1, seal = $12
        where workspace = $13 and code = $14 and canonical_hash = $15 and disabled_at is null
            and (deleted_at is not null or expired_at is not null or purged_at is not null
                or expires_at <= $16)
        returning id, main_since";
    /// Before a revival, on the same condition.
    UNTAG_DEAD = "delete from link_tags where link_id in (select id from links where id = $1
            and canonical_hash = $2 and disabled_at is null
            and (deleted_at is not null or expired_at is not null or purged_at is not null
                or expires_at <= $3))";
    /// After a revival: the counts go to the list of whose it is now.
    MOVE_STATS = "update link_stats set shelf = (select shelf from links where id = $1)
        where link_id = $1";
    /// Only when the link holds exactly these tags: not when its insert found the code taken.
    TAG = "insert into link_tags (workspace, tag, link_id)
        select workspace, cast($1 as text), id from links where id = $2 and tags = $3
        on conflict do nothing";
    /// No row back: the month's links are used up.
    COUNT_LINK = "insert into user_months (user_id, month, links) values ($1, $2, 1)
        on conflict (user_id, month) do update set links = user_months.links + 1
        where user_months.links < $3
        returning links";
    LINKS_IN_MONTH = "select links from user_months where user_id = $1 and month = $2";
}

/// A link to be stored.
#[derive(Clone, Debug)]
pub struct NewLink {
    /// A number from [`Store::take_numbers`]; for a revival, that of the dead link.
    pub id: LinkId,
    /// Whose it is.
    pub workspace: WorkspaceId,
    /// The code it asks for.
    pub code: Code,
    /// How the code was made.
    pub strategy: Strategy,
    /// Where it leads.
    pub target: String,
    /// SHA-256 of the target's canonical form.
    pub canonical_hash: [u8; 32],
    /// A name for people.
    pub title: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// 301, 302, 307 or 308.
    pub redirect_status: u16,
    /// Hits a month, if it has a limit of its own.
    pub hit_limit: Option<i64>,
    /// When it is made.
    pub created_at: Timestamp,
    /// From when on it is gone.
    pub expires_at: Option<Timestamp>,
    /// Whether it asks for its bare code on the main host, and has no place without it.
    pub wants_main: bool,
    /// Whose it is to be.
    pub owner: Option<UserId>,
    /// SHA-256 of its claim token, if it can be claimed.
    pub claim_hash: Option<[u8; 32]>,
    /// With what and from where it is made.
    pub made: LinkOrigin,
    /// Not a new row: the dead link of this code comes back.
    pub revive: bool,
}

/// Where a new link ended up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its number; that of the old row for a revived link.
    pub id: LinkId,
    /// Since when it holds its bare code on the main host.
    pub main_since: Option<Timestamp>,
}

/// What became of a batch of new links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// For each link where it ended up, or `None` when a code it asked for or its URL was taken.
    Stored(Vec<Option<Placed>>),
    /// None was stored, because these found a code or their URL taken.
    Undone(Vec<usize>),
    /// None was stored, because the user made as many as they may in this month.
    OverLimit,
}

/// How many links a user may make in a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meter {
    /// Who.
    pub user: UserId,
    /// In which month.
    pub month: Month,
    /// So many, at least one.
    pub limit: i64,
}

impl Store {
    /// Store links in one transaction; with `all_or_none`, only if every one finds its place.
    pub async fn insert_links(
        &self,
        links: &[&NewLink],
        all_or_none: bool,
    ) -> Result<Inserted, Error> {
        // In the order of their keys: neighbours in the index are written together, and two
        // transactions that want the same codes want them in the same order.
        let mut order: Vec<(usize, &NewLink)> = links.iter().copied().enumerate().collect();
        order.sort_by_key(|(_, link)| link.code.as_str());

        let mut steps = Vec::with_capacity(links.len());
        // The link whose place a step's row tells; `None` for tags.
        let mut owners = Vec::with_capacity(links.len());
        for (at, link) in order {
            if link.revive {
                let dead = [
                    Value::Int(link.id.0),
                    Value::blob(&link.canonical_hash),
                    link.created_at.into(),
                ];
                steps.push(Step::new(UNTAG_DEAD, dead));
                owners.push(None);
            }
            let step = if link.revive { revive_step(link) } else { insert_step(link) };
            steps.push(if all_or_none { step.or_undo() } else { step });
            owners.push(Some(at));
            if link.revive {
                steps.push(Step::new(MOVE_STATS, [Value::Int(link.id.0)]));
            }
            steps.extend(tag_steps(link.id, &link.tags));
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
            Outcome::Undone(missed) => {
                let owner = |at| owners.get(at).copied().flatten();
                Ok(Inserted::Undone(missed.into_iter().filter_map(owner).collect()))
            }
        }
    }

    /// Store a link and count it against a monthly limit, both or neither.
    pub async fn insert_metered(&self, link: &NewLink, meter: Meter) -> Result<Inserted, Error> {
        let params =
            [Value::Int(meter.user.0), Value::Int(meter.month.number()), Value::Int(meter.limit)];
        let mut steps = vec![Step::new(COUNT_LINK, params).or_undo(), insert_step(link).or_undo()];
        steps.extend(tag_steps(link.id, &link.tags));
        match self.db.batch(steps).await? {
            Outcome::Done(rows) => {
                let row = rows.get(1).and_then(|rows| rows.first());
                let placed = row.map(|row| place_of(link, row));
                Ok(Inserted::Stored(vec![placed.transpose()?]))
            }
            Outcome::Undone(missed) if missed.contains(&0) => Ok(Inserted::OverLimit),
            Outcome::Undone(_) => Ok(Inserted::Undone(vec![0])),
        }
    }

    /// How many links a user made in a month, of those that were counted.
    pub async fn links_in_month(&self, user: UserId, month: Month) -> Result<i64, Error> {
        let params = [Value::Int(user.0), Value::Int(month.number())];
        let row = self.db.find(LINKS_IN_MONTH, &params).await?;
        row.map_or(Ok(0), |row| row.int(0))
    }
}

fn insert_step(link: &NewLink) -> Step {
    let tags = join_tags(&link.tags);
    Step::new(
        INSERT,
        [
            Value::Int(link.id.0),
            Value::text(link.workspace.as_str()),
            Value::text(link.code.as_str()),
            Value::text(link.strategy.as_str()),
            Value::text(&link.target),
            Value::blob(&link.canonical_hash),
            link.title.as_deref().into(),
            tags.as_deref().into(),
            Value::Int(link.redirect_status.into()),
            link.hit_limit.into(),
            link.created_at.into(),
            link.expires_at.into(),
            main_since(link).into(),
            link.owner.map(|owner| owner.0).into(),
            link.claim_hash.as_ref().map(|hash| Value::blob(hash)).into(),
            link.made.key.map(|key| key.0).into(),
            link.made.client.as_deref().into(),
            seal_of(link),
        ],
    )
}

fn revive_step(link: &NewLink) -> Step {
    let tags = join_tags(&link.tags);
    Step::new(
        REVIVE,
        [
            Value::text(link.strategy.as_str()),
            Value::text(&link.target),
            link.title.as_deref().into(),
            tags.as_deref().into(),
            Value::Int(link.redirect_status.into()),
            link.hit_limit.into(),
            link.created_at.into(),
            link.expires_at.into(),
            link.owner.map(|owner| owner.0).into(),
            link.made.key.map(|key| key.0).into(),
            link.made.client.as_deref().into(),
            seal_of(link),
            Value::text(link.workspace.as_str()),
            Value::text(link.code.as_str()),
            Value::blob(&link.canonical_hash),
            link.created_at.into(),
        ],
    )
}

fn seal_of(link: &NewLink) -> Value<'static> {
    seal(link.id, link.workspace.as_str(), link.code.as_str(), &link.target)
}

/// The rows by which a link is found under its tags, once its `tags` column holds them.
pub(super) fn tag_steps(id: LinkId, tags: &[String]) -> impl Iterator<Item = Step> {
    let joined = join_tags(tags);
    tags.iter().map(move |tag| {
        Step::new(TAG, [Value::text(tag), Value::Int(id.0), joined.as_deref().into()])
    })
}

fn main_since(link: &NewLink) -> Option<Timestamp> {
    link.wants_main.then_some(link.created_at)
}

/// Where a link is that was stored: a new one where it asked to be, a revived one where its row was.
fn place_of(link: &NewLink, row: &Row) -> Result<Placed, Error> {
    if link.revive {
        Ok(Placed { id: LinkId(row.int(0)?), main_since: row.opt_time(1)? })
    } else {
        Ok(Placed { id: link.id, main_since: main_since(link) })
    }
}
