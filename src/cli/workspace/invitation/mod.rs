//! `kurz workspace invitation`: who is invited into a workspace, and one's own invitations, one subcommand a
//! file.

mod accept;
mod create;
mod decline;
mod list;
mod received;
mod revoke;

use clap::Subcommand;
use serde_json::{Value, json};

use super::{ShowArgs, WhichWorkspace};
use crate::cli::CliError;

pub(super) const EXAMPLES: &str = "\
Examples:
  kurz workspace invitation create acme bob@example.com --role admin
  kurz workspace invitation list acme
  kurz workspace invitation revoke acme 7
  kurz workspace invitation received
  kurz workspace invitation accept 7";

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Command {
    Create(create::Args),
    /// List the invitations of a workspace that wait for an answer
    #[command(after_help = list::EXAMPLES)]
    List(ShowArgs),
    Revoke(revoke::Args),
    Received(received::Args),
    /// Accept an invitation; you are a member of the workspace then
    #[command(after_help = accept::EXAMPLES)]
    Accept(WhichInvitation),
    /// Decline an invitation
    #[command(after_help = decline::EXAMPLES)]
    Decline(WhichInvitation),
}

pub(super) fn run(command: &Command) -> Result<(), CliError> {
    match command {
        Command::Create(args) => create::run(args),
        Command::List(args) => list::run(args),
        Command::Revoke(args) => revoke::run(args),
        Command::Received(args) => received::run(args),
        Command::Accept(which) => accept::run(which),
        Command::Decline(which) => decline::run(which),
    }
}

/// An invitation that one got.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct WhichInvitation {
    /// The invitation's number, its link, or the token of its link
    #[arg(value_name = "ID|LINK")]
    invitation: String,
}

impl WhichInvitation {
    /// As the API names it.
    fn body(&self) -> Value {
        if let Ok(id) = self.invitation.parse::<i64>() {
            return json!({ "id": id });
        }
        json!({ "token": self.invitation.rsplit("token=").next() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_is_named_by_its_number_its_link_or_its_token() {
        let body = |text: &str| WhichInvitation { invitation: text.to_owned() }.body();
        assert_eq!(body("7"), json!({ "id": 7 }));
        assert_eq!(body("abc"), json!({ "token": "abc" }));
        let link = "https://kurz.example/app/invitation?token=abc";
        assert_eq!(body(link), json!({ "token": "abc" }));
    }
}
