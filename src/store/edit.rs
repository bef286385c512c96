//! Changes to a link: edit, delete, restore.
//!
//! Invariant: a change names the version it was made on, so of two changes made on the same copy
//! one is told to look again.

use crate::store::driver::{Outcome, Step, statements};
use crate::store::insert::tag_steps;
use crate::store::links::join_tags;
use crate::store::seal::seal;
use crate::store::value::Value;
use crate::store::{Error, Store};
use crate::store::{NewChange, changes};
use kurz_core::link::{Link, LinkId, Strategy};
use kurz_core::time::Timestamp;

statements! {
    /// A link whose end was moved is no longer one that cleanup found at its end.
    EDIT = "update links set strategy = $1, target = $2, canonical_hash = $3, title = $4,
            tags = $5, redirect_status = $6, hit_limit = $7, expires_at = $8,
            expired_at = case when expires_at = $8 then expired_at else null end,
            updated_at = $9, version = version + 1, seal = $10
        where id = $11 and version = $12 and deleted_at is null and purged_at is null
        returning id";
    UNTAG = "delete from link_tags where link_id = $1";
    /// What is known of the old target says nothing about the new one; when to look again stays, so
    /// that edits cannot make kurz look more often.
    FORGET_HEALTH = "update link_health set destination_status = 'unknown' where link_id = $1";
    DELETE = "update links set deleted_at = $1, updated_at = $1, version = version + 1
        where id = $2 and deleted_at is null and purged_at is null returning id";
    /// A link that had expired before it was deleted has its whole grace again.
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
    /// From when on it is gone.
    pub expires_at: Option<Timestamp>,
}

impl Store {
    /// Change `link`; `false` when somebody changed it since it was read.
    pub async fn edit_link(
        &self,
        link: &Link,
        edit: &LinkEdit,
        now: Timestamp,
        change: &NewChange,
    ) -> Result<bool, Error> {
        let tags = join_tags(&edit.tags);
        let params = [
            Value::text(edit.strategy.as_str()),
            Value::text(&edit.target),
            Value::blob(&edit.canonical_hash),
            edit.title.as_deref().into(),
            tags.as_deref().into(),
            Value::Int(edit.redirect_status.into()),
            edit.hit_limit.into(),
            edit.expires_at.into(),
            now.into(),
            seal(link.id, link.workspace.as_str(), link.code.as_str(), &edit.target),
            Value::Int(link.id.0),
            Value::Int(link.version),
        ];
        let mut steps = vec![Step::new(EDIT, params).or_undo()];
        if link.tags != edit.tags {
            steps.push(Step::new(UNTAG, [Value::Int(link.id.0)]));
            steps.extend(tag_steps(link.id, &edit.tags));
        }
        if link.target != edit.target {
            steps.push(Step::new(FORGET_HEALTH, [Value::Int(link.id.0)]));
        }
        steps.push(changes::step(change));
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// Delete a link, restorable; `false` when it is not there to be deleted.
    pub async fn delete_link(
        &self,
        id: LinkId,
        now: Timestamp,
        change: &NewChange,
    ) -> Result<bool, Error> {
        let step = Step::new(DELETE, [now.into(), Value::Int(id.0)]);
        Ok(!self.write_noted(step, change).await?.is_empty())
    }

    /// Bring a deleted link back; `false` when it is not deleted, or purged.
    pub async fn restore_link(
        &self,
        id: LinkId,
        now: Timestamp,
        change: &NewChange,
    ) -> Result<bool, Error> {
        let step = Step::new(RESTORE, [now.into(), Value::Int(id.0)]);
        Ok(!self.write_noted(step, change).await?.is_empty())
    }
}
