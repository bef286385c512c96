//! Access: who may do what without an account. Not the rights of accounts: those are `account`'s.
//!
//! Invariant: unless somebody asks for it, nothing is open.

use super::rule::switch;
use super::setting::settings;

settings! {
    /// Who may do what without an account.
    pub(super) struct Access {
        /// No accounts needed, every caller may do everything: for trying it out and for closed
        /// networks.
        "open" => open: bool = switch().or("false"),
    }
}
