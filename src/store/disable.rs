//! Links that an administrator disables and enables.
//!
//! Invariant: only these statements enable a link again: neither an edit, nor deleting
//! and restoring it, nor its purge, nor asking for the same URL again.

use crate::store::cleanup::read_address;
use crate::store::driver::{Step, statements};
use crate::store::value::SqlValue;
use crate::store::{Error, LinkAddress, NewAuditEntry, Store};
use kurz_core::account::UserId;
use kurz_core::link::{LinkId, Reason};
use kurz_core::time::Timestamp;

statements! {
    DISABLE = "update links set disabled_at = $1, disabled_reason = $2, disabled_note = $3,
            updated_at = $1, version = version + 1
        where id = $4 and purged_at is null returning id";
    /// Also a tombstone: its URL may have its link again.
    ENABLE = "update links set disabled_at = null, disabled_reason = null, disabled_note = null,
            updated_at = $1, version = version + 1
        where id = $2 and disabled_at is not null returning id";
    /// Some of an owner's links in one list; those that it returned do not match again.
    DISABLE_OWN = "update links set disabled_at = $1, disabled_reason = 'account', updated_at = $1,
            version = version + 1
        where id in (select id from links where list_scope = $2 and owner_id = $3
            and disabled_at is null and purged_at is null limit $4)
        returning id, workspace, code";
    /// Those that were disabled with their owner's account, and not for themselves.
    ENABLE_OWN = "update links set disabled_at = null, disabled_reason = null, updated_at = $1,
            version = version + 1
        where id in (select id from links where list_scope = $2 and owner_id = $3
            and disabled_reason = 'account' and purged_at is null limit $4)
        returning id, workspace, code";
}

const PART: i64 = 500;

impl Store {
    /// Disable a link, or give another reason for it; `false` when it is purged.
    pub async fn disable_link(
        &self,
        id: LinkId,
        reason: Reason,
        note: Option<&str>,
        change: &NewAuditEntry,
    ) -> Result<bool, Error> {
        let params =
            [change.at.into(), SqlValue::text(reason.as_str()), note.into(), SqlValue::Int(id.0)];
        Ok(!self.write_audited(Step::new(DISABLE, params), change).await?.is_empty())
    }

    /// Enable a disabled link; `false` when it is not disabled.
    pub async fn enable_link(&self, id: LinkId, change: &NewAuditEntry) -> Result<bool, Error> {
        let params = [change.at.into(), SqlValue::Int(id.0)];
        Ok(!self.write_audited(Step::new(ENABLE, params), change).await?.is_empty())
    }

    /// Disable or enable some of the links of `owner` in a list; their addresses. Empty: none is left.
    pub async fn set_own_disabled(
        &self,
        list: &str,
        owner: UserId,
        disabled: bool,
        now: Timestamp,
    ) -> Result<Vec<LinkAddress>, Error> {
        let sql = if disabled { DISABLE_OWN } else { ENABLE_OWN };
        let params =
            [now.into(), SqlValue::text(list), SqlValue::Int(owner.0), SqlValue::Int(PART)];
        self.db.write(Step::new(sql, params)).await?.iter().map(read_address).collect()
    }
}
