//! A link as it is stored, and its status.

use std::time::Duration;

use crate::account::{KeyId, UserId};
use crate::code::{Code, WorkspaceId};
use crate::link::{LinkFields, LinkId, Month, Reason, Strategy};
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub id: LinkId,
    pub workspace: WorkspaceId,
    pub code: Code,
    pub strategy: Strategy,
    /// Where it leads, exactly as it was sent.
    pub target: String,
    /// SHA-256 of the target's canonical form.
    pub canonical_hash: [u8; 32],
    pub fields: LinkFields,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// When cleanup marked it as expired: it stays expired even if the clock is set back.
    pub expired_at: Option<Timestamp>,
    /// When it was deleted, while it can still be restored.
    pub deleted_at: Option<Timestamp>,
    /// When it became a tombstone: its code stays taken, everything else is deleted.
    pub purged_at: Option<Timestamp>,
    /// Since when it has its bare code on the main host.
    pub main_since: Option<Timestamp>,
    /// Incremented by every change, to detect changes based on an old version.
    pub version: i64,
    pub redirect_count: i64,
    /// The mean latency of clicks, in milliseconds.
    pub avg_redirect_ms: f64,
    pub last_redirect_at: Option<Timestamp>,
    /// The month of `month_hits`.
    pub month: Month,
    pub month_hits: i64,
    /// Its owner; `None`: created without an account.
    pub owner: Option<UserId>,
    /// Created without an account on a server that has accounts: it can be claimed until it expires.
    pub is_temporary: bool,
    /// The result of the last check of the target.
    pub destination_status: Option<String>,
    /// The HTTP status of the last response of the target; `None` when there was none.
    pub destination_http_status: Option<u16>,
    /// When the target was last checked.
    pub last_checked_at: Option<Timestamp>,
    /// Since when and why it is disabled, if it is.
    pub disabled: Option<Disabled>,
    pub made: LinkOrigin,
    /// What decides where its visitors are sent beyond its target, if anything does.
    pub plan: Option<StoredPlan>,
    /// Its further codes, oldest first.
    pub aliases: Vec<Code>,
}

/// A plan as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPlan {
    /// The plan document, in JSON.
    pub document: String,
    /// The secret keys of its splits.
    pub keys: Vec<u8>,
}

/// A link was disabled by an administrator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disabled {
    pub at: Timestamp,
    pub reason: Reason,
    pub note: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkOrigin {
    /// The API key, if one was used.
    pub key: Option<KeyId>,
    pub client: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Active,
    Expired,
    Deleted,
    Disabled,
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Expired => "EXPIRED",
            Self::Deleted => "DELETED",
            Self::Disabled => "DISABLED",
        }
    }
}

impl Link {
    /// Until when it can be restored for certain, if it is deleted: cleanup purges it at its next run after that.
    /// A link that had expired before it was deleted is purged as soon as an expired one would be.
    pub fn restorable_until(&self, grace: Duration) -> Option<Timestamp> {
        let deleted = self.deleted_at.filter(|_| self.purged_at.is_none())?;
        let expired = self.expired_at.filter(|_| self.fields.expires_at.is_some());
        Some(expired.map_or(deleted, |expired| expired.min(deleted)).plus(grace))
    }

    /// The status at `now`; `None` for a tombstone.
    pub fn status(&self, now: Timestamp) -> Option<Status> {
        if self.purged_at.is_some() {
            None
        } else if self.deleted_at.is_some() {
            Some(Status::Deleted)
        } else if self.disabled.is_some() {
            Some(Status::Disabled)
        } else if self.expired_at.is_some() || self.fields.expires_at.is_some_and(|end| now >= end)
        {
            Some(Status::Expired)
        } else {
            Some(Status::Active)
        }
    }

    /// Hits in the month of `now`.
    pub fn hits_this_month(&self, now: Timestamp) -> i64 {
        if self.month == Month::of(now) { self.month_hits } else { 0 }
    }
}
