//! Aliases: further codes of a link. An alias is a row of `links` that is a tombstone in all but `alias_of`: the
//! indexes that keep codes apart, for good, know nothing of it. Whoever finds one by its code reads the link
//! by its number next; a link found by its own code costs no more than without aliases.
//!
//! Invariant: whoever adds an alias or renames a link changes the link's row in the same transaction, so that
//! nobody who changes the link can miss an alias.

use std::borrow::Cow;

use crate::store::cleanup::{LinkAddress, read_address};
use crate::store::driver::{Outcome, Step, statements};
use crate::store::insert::{
    NewLink, count_custom_step, insert_custom_step, insert_row_step, lock_month_step, row_of,
};
use crate::store::link_columns::at;
use crate::store::row_checksum::row_checksum;
use crate::store::text::Piece::{Params, Text};
use crate::store::text::text;
use crate::store::value::SqlValue;
use crate::store::{Error, LinkEdit, MonthlyLinkLimit, NewAuditEntry, Store, audit};
use kurz_core::account::UserId;
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{Link, LinkFields, LinkId, LinkOrigin, Strategy};
use kurz_core::time::Timestamp;

/// Aliases of one link.
pub const MOST_ALIASES: usize = 100;
/// Links whose aliases are read at a time.
const AT_ONCE: usize = 90;

statements! {
    /// No row: the link is gone, or was changed.
    TOUCH = "update links set updated_at = $1, version = version + 1
        where id = $2 and version = $3 and deleted_at is null and purged_at is null
        returning id";
    REMOVE = "update links set alias_of = 0, row_checksum = null
        where workspace = $1 and code = $2 and alias_of = $3 returning id";
    FIND_OWN = "select id, main_since from links where workspace = $1 and code = $2 and alias_of = $3";
    IS_TAKEN = "select id from links where workspace = $1 and code = $2";
    /// Out of the way of the code that it gives to its link.
    PARK = "update links set code = $1, main_since = null where id = $2 and alias_of = $3 returning id";
    /// All steps of a batch run, also after one that undoes it: these change nothing then, instead of failing.
    RENAME_LINK = "update links set code = $1, main_since = $2, row_checksum = $3
        where id = $4 and code = $5
            and exists (select 1 from links a where a.id = $6 and a.code = $7)";
    RENAME_ALIAS = "update links set code = $1, main_since = $2, row_checksum = $3
        where id = $4 and not exists (select 1 from links l where l.workspace = $5 and l.code = $1)";
    /// Those of several links.
    ADDRESSES = text!(
        Text("select id, workspace, code from links where alias_of in ("),
        Params(1, AT_ONCE),
        Text(")"),
    );
    /// Before a purged link comes back, perhaps as somebody else's: its aliases lead nowhere any more.
    DROP_PURGED = "update links set alias_of = 0, row_checksum = null
        where alias_of in (select id from links where id = $1 and purged_at is not null)";
}

/// A code that a link is to have beside its own, or instead of it.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAlias {
    /// A number from [`Store::take_numbers`].
    pub id: LinkId,
    pub code: Code,
    /// Whether it asks for its bare code on the main host, and has no place without it.
    pub wants_main: bool,
    pub owner: Option<UserId>,
    /// What the code counts against.
    pub limit: Option<MonthlyLinkLimit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AliasAdded {
    Done,
    /// The code is taken, on the main host perhaps, or over the monthly limit.
    Taken,
    /// The link was changed since it was read.
    Changed,
}

impl Store {
    /// Give `link` a further code.
    pub async fn add_alias(
        &self,
        link: &Link,
        alias: &NewAlias,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<AliasAdded, Error> {
        let mut steps = vec![touch_step(link, now)];
        steps.extend(insert_steps(link, alias, now));
        steps.push(audit::step(change));
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => AliasAdded::Done,
            Outcome::Undone(missed) if missed.contains(&0) => AliasAdded::Changed,
            Outcome::Undone(_) => AliasAdded::Taken,
        })
    }

    /// Take an alias from a link: its code leads nowhere, and is nobody's any more. `false` when somebody
    /// changed the link since it was read.
    pub async fn remove_alias(
        &self,
        link: &Link,
        code: &Code,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let names = [
            SqlValue::text(link.workspace.as_str()),
            SqlValue::text(code.as_str()),
            SqlValue::Int(link.id.0),
        ];
        let steps =
            vec![touch_step(link, now), Step::new(REMOVE, names).or_undo(), audit::step(change)];
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// The addresses of all aliases of some links.
    pub async fn alias_addresses(&self, links: &[LinkId]) -> Result<Vec<LinkAddress>, Error> {
        let mut found = Vec::new();
        for part in links.chunks(AT_ONCE) {
            let Some(last) = part.last() else { continue };
            // The statement has a fixed number of parameters: the last number fills the rest.
            let filled = part.iter().chain(std::iter::repeat(last)).take(AT_ONCE);
            let params = filled.map(|id| SqlValue::Int(id.0)).collect();
            for row in self.db.list(ADDRESSES, params).await? {
                found.push(read_address(&row)?);
            }
        }
        Ok(found)
    }

    /// Whether a workspace's code is a link's, an alias or a tombstone.
    pub async fn is_code_taken(&self, workspace: &WorkspaceId, code: &Code) -> Result<bool, Error> {
        let params = [SqlValue::text(workspace.as_str()), SqlValue::text(code.as_str())];
        Ok(self.db.find(IS_TAKEN, &params).await?.is_some())
    }

    /// The alias of a link that has this code, and since when it has the bare code on the main host.
    pub(super) async fn find_own_alias(
        &self,
        link: &Link,
        code: &Code,
    ) -> Result<Option<(LinkId, Option<Timestamp>)>, Error> {
        let params = [
            SqlValue::text(link.workspace.as_str()),
            SqlValue::text(code.as_str()),
            SqlValue::Int(link.id.0),
        ];
        let row = self.db.find(FIND_OWN, &params).await?;
        row.map(|row| Ok((LinkId(row.int(0)?), row.opt_time(1)?))).transpose()
    }
}

fn touch_step(link: &Link, now: Timestamp) -> Step {
    let params = [now.into(), SqlValue::Int(link.id.0), SqlValue::Int(link.version)];
    Step::new(TOUCH, params).or_undo()
}

/// The row of an alias.
pub(super) fn insert_steps(link: &Link, alias: &NewAlias, now: Timestamp) -> Vec<Step> {
    let row = NewLink {
        id: alias.id,
        workspace: link.workspace.clone(),
        code: alias.code.clone(),
        strategy: Strategy::Custom,
        target: String::new(),
        // Of no URL: a tombstone with it comes back for none.
        canonical_hash: [0; 32],
        fields: LinkFields::default(),
        created_at: now,
        wants_main: alias.wants_main,
        owner: alias.owner,
        claim_hash: None,
        made: LinkOrigin::default(),
        revive: false,
        plan: None,
    };
    let mut values = row_of(&row);
    let own = [
        (at!(purged_at), now.into()),
        (at!(alias_of), SqlValue::Int(link.id.0)),
        (at!(row_checksum), checksum(alias.id, link, &alias.code)),
    ];
    for (column, value) in own {
        if let Some(place) = values.get_mut(column) {
            *place = value;
        }
    }
    match alias.limit {
        None => vec![insert_row_step(values).or_undo()],
        Some(limit) => vec![
            lock_month_step(limit),
            insert_custom_step(values, limit).or_undo(),
            count_custom_step(limit, alias.id),
        ],
    }
}

/// Give `link` the code of its alias, and the alias that of the link; each keeps its place on the main host.
pub(super) fn swap_steps(
    link: &Link,
    edit: &LinkEdit,
    (alias, alias_code, alias_main): (LinkId, &Code, Option<Timestamp>),
) -> [Step; 3] {
    // No code holds this character.
    let parked = format!("~{alias}");
    let park = [SqlValue::text(&parked), SqlValue::Int(alias.0), SqlValue::Int(link.id.0)];
    let workspace = link.workspace.as_str();
    let own = [
        SqlValue::text(alias_code.as_str()),
        alias_main.into(),
        row_checksum(link.id, workspace, alias_code.as_str(), &edit.target, edit.plan.as_ref()),
        SqlValue::Int(link.id.0),
        SqlValue::text(link.code.as_str()),
        SqlValue::Int(alias.0),
        SqlValue::text(&parked),
    ];
    let other = [
        SqlValue::text(link.code.as_str()),
        link.main_since.into(),
        checksum(alias, link, &link.code),
        SqlValue::Int(alias.0),
        SqlValue::text(workspace),
    ];
    [
        Step::new(PARK, park).or_undo(),
        Step::new(RENAME_LINK, own).or_undo(),
        Step::new(RENAME_ALIAS, other).or_undo(),
    ]
}

pub(super) fn drop_purged_step(link: LinkId) -> Step {
    Step::new(DROP_PURGED, [SqlValue::Int(link.0)])
}

fn checksum(alias: LinkId, link: &Link, code: &Code) -> SqlValue<'static> {
    let leads_to = leads_to("", Some(link.id.0));
    row_checksum(alias, link.workspace.as_str(), code.as_str(), &leads_to, None)
}

/// What a row's checksum is of: its target, or the number of the link whose alias it is.
pub(super) fn leads_to(target: &str, alias_of: Option<i64>) -> Cow<'_, str> {
    alias_of.map_or(Cow::Borrowed(target), |link| Cow::Owned(link.to_string()))
}

/// The link that a row is an alias of, from its column `alias_of`.
pub(super) fn aliased(alias_of: Option<i64>) -> Option<LinkId> {
    alias_of.filter(|link| *link > 0).map(LinkId)
}
