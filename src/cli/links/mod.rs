//! `kurz links`: find and change the links of a server, one subcommand a file.

mod delete;
mod disable;
mod edit;
pub(super) mod fields;
mod list;
mod restore;
mod show;

use clap::Subcommand;

use super::CliError;

const EXAMPLES: &str = "\
Examples:
  kurz links list --workspace acme --search spring
  kurz links show promo --workspace acme
  kurz links edit promo --workspace acme --target https://example.com/new

KURZ_URL names the server (http://127.0.0.1:8080 if it is not set), KURZ_API_KEY the key to show.";

/// Find, show, change, delete, restore, disable and enable links
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Edit(edit::Args),
    Delete(delete::Args),
    Restore(restore::Args),
    Disable(disable::DisableArgs),
    Enable(disable::EnableArgs),
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    match &args.command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Edit(args) => edit::run(args),
        Command::Delete(args) => delete::run(args),
        Command::Restore(args) => restore::run(args),
        Command::Disable(args) => disable::disable(args),
        Command::Enable(args) => disable::enable(args),
    }
}
