//! Changes to a link: edit, delete, restore.
//!
//! Invariant: a change names the version it was made on, so of two changes made on the same copy
//! one is refused.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::insert::tag_steps;
use crate::store::link_columns::{FIELD_COLUMNS, field_values};
use crate::store::live_rows::live_workspace;
use crate::store::plans::plan_step;
use crate::store::row_checksum::row_checksum;
use crate::store::text::Piece::{Assignments, Params, Text};
use crate::store::text::{position_of, text};
use crate::store::value::SqlValue;
use crate::store::{Error, NewAlias, NewAuditEntry, Store, aliases, audit};
use kurz_core::account::UserId;
use kurz_core::link::{Link, LinkFields, LinkId, StoredPlan, Strategy};
use kurz_core::time::Timestamp;

/// The first parameter of `EDIT` that is a field.
const FIRST_FIELD: usize = 7;

statements! {
    /// With another `expires_at`, the mark that cleanup found the link expired is removed.
    EDIT = text!(
        Text("update links set strategy = $1, target = $2, canonical_hash = $3, updated_at = $4,
            row_checksum = $5, plan_at = $6, version = version + 1, "),
        Assignments(FIELD_COLUMNS, FIRST_FIELD),
        Text(", expired_at = case when expires_at = "),
        Params(FIRST_FIELD + position_of(FIELD_COLUMNS, "expires_at"), 1),
        Text(" then expired_at else null end where id = "),
        Params(FIRST_FIELD + FIELD_COLUMNS.len(), 1),
        Text(" and version = "),
        Params(FIRST_FIELD + FIELD_COLUMNS.len() + 1, 1),
        Text(" and deleted_at is null and purged_at is null returning id"),
    );
    UNTAG = "delete from link_tags where link_id = $1";
    /// The result for the old target does not hold for the new one. The time of the next check stays, so
    /// that edits cannot cause more checks.
    FORGET_HEALTH = "update link_health set destination_status = 'unknown', http_status = null,
            failures = 0, failed_at = null
        where link_id = $1";
    DELETE = "update links set deleted_at = $1, updated_at = $1, version = version + 1
        where id = $2 and deleted_at is null and purged_at is null returning id";
    /// A link that had expired before it was deleted gets the whole grace period again.
    RESTORE = "update links set deleted_at = null, updated_at = $1,
            expired_at = case when expired_at is null then null else cast($1 as bigint) end,
            version = version + 1
        where id = $2 and deleted_at is not null and purged_at is null returning id";
}

/// What a link is to be after an edit.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkEdit {
    /// How its code was made; `custom` once the code no longer follows from the target.
    pub strategy: Strategy,
    pub target: String,
    /// SHA-256 of the target's canonical form.
    pub canonical_hash: [u8; 32],
    pub fields: LinkFields,
    pub plan: Option<StoredPlan>,
    /// The code that it is to have; the one that it has becomes an alias.
    pub code: Option<NewAlias>,
}

/// What became of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditOutcome {
    Done,
    /// Somebody changed the link since it was read.
    Changed,
    /// Its new code is taken, on the main host perhaps, or over the monthly limit.
    CodeTaken,
}

/// What became of a link that was to be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    Done,
    /// It is not deleted, or purged.
    NotDeleted,
    /// Its workspace or its owner is deleted.
    Gone,
}

impl Store {
    /// Change `link`, all or nothing.
    pub async fn edit_link(
        &self,
        link: &Link,
        edit: &LinkEdit,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<EditOutcome, Error> {
        let (workspace, code) = (link.workspace.as_str(), link.code.as_str());
        let checksum = row_checksum(link.id, workspace, code, &edit.target, edit.plan.as_ref());
        let start = [
            SqlValue::text(edit.strategy.as_str()),
            SqlValue::text(&edit.target),
            SqlValue::blob(&edit.canonical_hash),
            now.into(),
            checksum.clone(),
            edit.plan.as_ref().map(|_| now).into(),
        ];
        let end = [SqlValue::Int(link.id.0), SqlValue::Int(link.version)];
        let params = start.into_iter().chain(field_values(&edit.fields)).chain(end);
        let mut steps = vec![Step::new(EDIT, params).or_undo()];
        if link.fields.tags != edit.fields.tags {
            steps.push(Step::new(UNTAG, [SqlValue::Int(link.id.0)]));
            steps.extend(tag_steps(link.id, &edit.fields.tags));
        }
        if link.plan != edit.plan {
            steps.push(plan_step(link.id, edit.plan.as_ref(), checksum));
        }
        if link.target != edit.target {
            steps.push(Step::new(FORGET_HEALTH, [SqlValue::Int(link.id.0)]));
        }
        if let Some(new) = &edit.code {
            let own = self.find_own_alias(link, &new.code).await?;
            let (alias, main_since) = own.unwrap_or_else(|| {
                steps.extend(aliases::insert_steps(link, new, now));
                (new.id, new.wants_main.then_some(now))
            });
            let other = (alias, &new.code, main_since);
            steps.extend(aliases::swap_steps(link, edit, other));
        }
        steps.push(audit::step(change));
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => EditOutcome::Done,
            Outcome::Undone(missed) if missed.contains(&0) => EditOutcome::Changed,
            Outcome::Undone(_) => EditOutcome::CodeTaken,
        })
    }

    /// Delete a link, restorable; `false` when it is not there to be deleted.
    pub async fn delete_link(
        &self,
        id: LinkId,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let step = Step::new(DELETE, [now.into(), SqlValue::Int(id.0)]);
        Ok(!self.write_audited(step, change).await?.is_empty())
    }

    /// Bring a deleted link back. With `owner` only while that account exists.
    pub async fn restore_link(
        &self,
        link: &Link,
        owner: Option<UserId>,
        now: Timestamp,
        change: &NewAuditEntry,
    ) -> Result<Restored, Error> {
        let steps = vec![
            live_workspace(&link.workspace, owner),
            Step::new(RESTORE, [now.into(), SqlValue::Int(link.id.0)]).or_undo(),
            audit::step(change),
        ];
        Ok(match self.db.batch(steps).await? {
            Outcome::Done(_) => Restored::Done,
            Outcome::Undone(missed) if missed.contains(&0) => Restored::Gone,
            Outcome::Undone(_) => Restored::NotDeleted,
        })
    }
}
