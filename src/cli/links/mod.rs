//! `kurz links`: find and change the links of a server, one subcommand a file.

mod alias;
mod delete;
mod disable;
mod edit;
pub(super) mod fields;
mod list;
mod plan_fields;
mod restore;
mod show;
mod test;

use clap::Subcommand;

use super::CliError;

const EXAMPLES: &str = "\
Examples:
  kurz links list --workspace acme --search spring
  kurz links show promo --workspace acme
  kurz links edit promo --workspace acme --target https://example.com/new

KURZ_URL names the server (http://127.0.0.1:8080 if it is not set), KURZ_API_KEY the API key.";

/// List, show, edit, test, delete, restore, disable and enable links, and give them aliases
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
    Test(test::Args),
    Alias(alias::AliasArgs),
    Unalias(alias::UnaliasArgs),
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
        Command::Test(args) => test::run(args),
        Command::Alias(args) => alias::alias(args),
        Command::Unalias(args) => alias::unalias(args),
    }
}
