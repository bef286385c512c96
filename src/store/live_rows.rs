//! Rows that must be there when others are written: the workspace of a link, its owner, the account of a
//! member. Deletions and insertions exclude each other by these steps.
//!
//! Invariant: a transaction locks accounts before workspaces, so that two never wait for each other. A step
//! that locks stands before the statement that goes by what it found: each statement of a transaction sees
//! what was committed before it began.

use crate::store::driver::{Step, statements};
use crate::store::value::SqlValue;
use kurz_core::account::UserId;
use kurz_core::code::WorkspaceId;

/// A text that selects a workspace while it exists and, unless that is null, an account: given the numbers of
/// their parameters, the account's first, and what stands before and after. On PostgreSQL both stay as they
/// are until the end of the transaction.
macro_rules! live_workspace_text {
    ($($before:expr),*; $owner:expr, $workspace:expr; $($after:expr),*) => {
        $crate::store::text::text!(
            $($before,)*
            $crate::store::text::Piece::Text(
                "select id from live_workspaces where id = case when cast("
            ),
            $crate::store::text::Piece::Params($owner, 1),
            $crate::store::text::Piece::Text(
                " as bigint) is null or exists (select 1 from live_users where id = "
            ),
            $crate::store::text::Piece::Params($owner, 1),
            $crate::store::text::Piece::Text(") then cast("),
            $crate::store::text::Piece::Params($workspace, 1),
            $crate::store::text::Piece::Text(" as text) end"),
            $($after),*
        )
    };
}
pub(super) use live_workspace_text;

statements! {
    LIVE_WORKSPACE = live_workspace_text!(; 1, 2;);
    LIVE_USER = "select id from live_users where id = $1";
    /// An update, since it excludes all that ask for a live workspace, and each other.
    LOCK_WORKSPACE = "update workspaces set updated_at = updated_at
        where id = $1 and deleted_at is null returning id";
    LOCK_USER = "update users set updated_at = updated_at
        where id = $1 and deleted_at is null returning id";
}

/// Undoes the batch unless the workspace exists and, with `owner`, that account.
pub(super) fn live_workspace(workspace: &WorkspaceId, owner: Option<UserId>) -> Step {
    let owner = owner.map(|owner| owner.0).into();
    Step::new(LIVE_WORKSPACE, [owner, SqlValue::text(workspace.as_str())]).or_undo()
}

/// Undoes the batch unless the account exists.
pub(super) fn live_user(user: UserId) -> Step {
    Step::new(LIVE_USER, [SqlValue::Int(user.0)]).or_undo()
}

/// Lets one transaction at a time change the members of a workspace, and none make links in it meanwhile.
/// Undoes the batch when there is no such workspace.
pub(super) fn lock_workspace(workspace: &WorkspaceId) -> Step {
    Step::new(LOCK_WORKSPACE, [SqlValue::text(workspace.as_str())]).or_undo()
}

/// Lets one transaction at a time count what an account has. Undoes the batch when there is no such account.
pub(super) fn lock_user(user: UserId) -> Step {
    Step::new(LOCK_USER, [SqlValue::Int(user.0)]).or_undo()
}
