//! Access without an account, registration, and the secret that signs tokens. Permissions of accounts
//! are in `account`.
//!
//! Invariant: open access is opt-in, and a secret known from an example never signs a token.

use kurz_core::account::token::{LEAST_SECRET_BYTES, is_sound_secret};

use super::secret::Secret;
use super::setting::settings;
use super::value_parser::{ValueParser, choice, number, secret, switch};

/// Who may register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signup {
    /// Everybody.
    Open,
    /// People with an invitation.
    Invite,
    /// Nobody: accounts are created on the command line.
    Closed,
}

settings! {
    /// Anonymous access, registration and tokens.
    pub(crate) struct Access {
        /// No accounts: every caller may do everything. For trying kurz out and for closed
        /// networks.
        "open" => open: bool = switch().or("false"),
        /// Who may register over HTTP; invitations are created with `kurz user invite`.
        "signup" => signup: Signup = choice([
            ("open", Signup::Open),
            ("invite", Signup::Invite),
            ("closed", Signup::Closed),
        ]).or("open"),
        /// Whether the front page shows how many links and clicks this server has.
        "front_totals" => front_totals: bool = switch().or("on"),
        /// The secret that signs sign-in tokens; all instances share it.
        "jwt_secret" => jwt_secret: Option<Secret> =
            signing_secret().or_none("generated at first start and kept in the store"),
        /// How many links a user may create in a UTC calendar month over `/v1/shorten`.
        "user_link_limit" => user_link_limit: Option<u64> =
            number(0..=1_000_000_000_u64).zero_is_none("0 = off").or("20"),
        /// How many workspaces an account may create; administrators may create any number.
        "workspace_limit" => workspace_limit: Option<i64> =
            number(0..=1_000_000_i64).zero_is_none("0 = off").or("20"),
        /// How many custom codes an account may choose in the workspace `main` in a UTC calendar
        /// month; administrators may choose any number.
        "custom_code_limit" => custom_code_limit: Option<i64> =
            number(0..=1_000_000_000_i64).zero_is_none("0 = off").or("500"),
    }
}

/// The check that also applies to the secret in the store: secrets from examples are public.
fn signing_secret() -> ValueParser<Secret> {
    secret(LEAST_SECRET_BYTES..=1024)
        .require("not one from an example", |secret: &Secret| is_sound_secret(secret.expose()))
}
