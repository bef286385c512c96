//! A link as it is stored, and what its times say about it.

use crate::account::{KeyId, UserId};
use crate::clock::Timestamp;
use crate::code::{Code, WorkspaceId};
use crate::link::{LinkFields, LinkId, Month, Reason, Strategy};

/// A link with its counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its number.
    pub id: LinkId,
    /// The workspace it belongs to.
    pub workspace: WorkspaceId,
    /// Its code.
    pub code: Code,
    /// How the code was made.
    pub strategy: Strategy,
    /// Where it leads, exactly as it was sent.
    pub target: String,
    /// SHA-256 of the target's canonical form.
    pub canonical_hash: [u8; 32],
    /// What was set on it.
    pub fields: LinkFields,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When cleanup found its time over: from then on no clock brings it back.
    pub expired_at: Option<Timestamp>,
    /// When it was deleted, while it can still be restored.
    pub deleted_at: Option<Timestamp>,
    /// When it became a tombstone: its code stays taken, everything else is gone.
    pub purged_at: Option<Timestamp>,
    /// Since when it holds its bare code on the main host.
    pub main_since: Option<Timestamp>,
    /// Grows with every change, so that a change made on an old copy is noticed.
    pub version: i64,
    /// Redirects so far.
    pub redirect_count: i64,
    /// Mean latency of the redirects, in milliseconds.
    pub avg_redirect_ms: f64,
    /// The latest redirect.
    pub last_redirect_at: Option<Timestamp>,
    /// The month that `month_hits` counts.
    pub month: Month,
    /// Redirects in that month.
    pub month_hits: i64,
    /// Whose it is; `None`: made without an account.
    pub owner: Option<UserId>,
    /// Made without an account on a server that has them: it can be claimed while it lives.
    pub is_temporary: bool,
    /// What the target said when it was last checked.
    pub destination_status: Option<String>,
    /// When the target was last checked.
    pub last_checked_at: Option<Timestamp>,
    /// Since when and why it is disabled, if it is.
    pub disabled: Option<Disabled>,
    /// With what and from where it was made.
    pub made: LinkOrigin,
}

/// That whoever runs the server disabled a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disabled {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: Reason,
    /// What they said about it, for its owner.
    pub note: Option<String>,
}

/// How a link came to be, beside its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkOrigin {
    /// The key, if it was made with one.
    pub key: Option<KeyId>,
    /// The address that asked for it.
    pub client: Option<String>,
}

/// Where a link stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It redirects.
    Active,
    /// Its time is over.
    Expired,
    /// Its owner deleted it.
    Deleted,
    /// It is there, and withheld.
    Disabled,
}

impl Status {
    /// The name on the wire.
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
    /// Where the link stands at `now`; `None` for a tombstone.
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

    /// Redirects in the month of `now`.
    pub fn hits_this_month(&self, now: Timestamp) -> i64 {
        if self.month == Month::of(now) { self.month_hits } else { 0 }
    }
}
