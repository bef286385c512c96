//! Access: who may do what without an account, who may get one, and what tokens are signed with. Not
//! the rights of accounts: those are `account`'s.
//!
//! Invariant: unless somebody asks for it, nothing is open; and no secret that an attacker could
//! guess is ever signed with.

use kurz_core::account::token::{LEAST_SECRET_BYTES, is_sound_secret};

use super::rule::{Rule, choice, number, secret, switch};
use super::secret::Secret;
use super::setting::settings;

/// Who may register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signup {
    /// Everybody.
    Open,
    /// Who was invited.
    Invite,
    /// Nobody: accounts come from the command line.
    Closed,
}

settings! {
    /// Who may do what, and how they show who they are.
    pub struct Access {
        /// No accounts needed, every caller may do everything: for trying it out and for closed
        /// networks.
        "open" => open: bool = switch().or("false"),
        /// Who may register over HTTP; an invitation comes from `kurz user invite`.
        "signup" => signup: Signup = choice([
            ("open", Signup::Open),
            ("invite", Signup::Invite),
            ("closed", Signup::Closed),
        ]).or("open"),
        /// The secret that sign-in tokens are signed with; all instances share it.
        "jwt_secret" => jwt_secret: Option<Secret> =
            signing_secret().or_none("generated at first start and kept in the store"),
        /// How many links a user may make in a UTC calendar month over `/v1/shorten`.
        "user_link_limit" => user_link_limit: Option<u64> =
            number(0..=1_000_000_000_u64).zero_is_none("0 = off").or("20"),
    }
}

/// Examples' secrets are known to everybody: the same judge as for those that the store keeps.
fn signing_secret() -> Rule<Secret> {
    secret(LEAST_SECRET_BYTES..=1024)
        .only("none that stands in an example", |secret: &Secret| is_sound_secret(secret.expose()))
}
