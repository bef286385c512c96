//! The command line: one subcommand a file. Here is only who is called; what a subcommand does is
//! in its file, and what it knows is in the modules below.
//!
//! Invariant: exit code 0 is done, 1 failed, 2 wrong usage or refused input. Answers go to stdout;
//! errors go to stderr, as one sentence that says what to do.

mod arguments;
mod backup;
mod canon;
mod client;
mod code;
mod completions;
mod copy;
mod counter_code;
mod doctor;
mod error;
mod key;
mod lines;
mod links;
mod logs;
mod migrate;
mod operator;
mod pages;
mod privacy;
mod runtime;
mod serve;
mod settings;
mod shorten;
mod stats;
mod table;
mod tags;
mod user;
mod visible_log;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::error::CliError;
use self::operator::OperatorArgs;

const EXAMPLES: &str = "\
Examples:
  kurz serve
  kurz user add ada@example.com --admin
  kurz shorten https://example.com/spring-sale
  kurz links list
  kurz stats --workspace acme --group country
  kurz backup kurz-backup.db
  kurz copy --from sqlite://kurz.db --to postgres://kurz@db/kurz
  kurz doctor
  kurz canon 'HTTP://Example.com:80/a/../b?z=1&a=2'
  kurz code https://example.com/page --workspace acme
  kurz counter-code 123 --salt unit_test_salt
  kurz completions bash > /etc/bash_completion.d/kurz

Exit codes: 0 done, 1 failed, 2 wrong usage or refused input.";

/// A URL shortener: deterministic codes for teams, counter codes for volume, accounts for people.
#[derive(Debug, Parser)]
#[command(name = "kurz", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Args),
    Shorten(shorten::Args),
    Links(Box<links::Args>),
    Stats(stats::Args),
    /// List, rename and delete tags
    #[command(subcommand, after_help = tags::EXAMPLES)]
    Tags(tags::Command),
    /// Create, show, edit and delete workspaces and their hosts
    #[command(subcommand, after_help = workspace::EXAMPLES)]
    Workspace(workspace::Command),
    Migrate(migrate::Args),
    Backup(backup::Args),
    Copy(copy::Args),
    Doctor(doctor::Args),
    Privacy(privacy::Args),
    /// Create, list and change accounts
    #[command(after_help = user::EXAMPLES)]
    User(OperatorArgs<user::Command>),
    /// Create, list and revoke API keys
    #[command(after_help = key::EXAMPLES)]
    Key(OperatorArgs<key::Command>),
    Canon(canon::Args),
    Code(code::Args),
    CounterCode(counter_code::Args),
    Completions(completions::Args),
}

/// Run the program on the arguments of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come here too. A closed pipe has no reader to tell.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { error::USAGE } else { 0 });
        }
    };
    let done = match cli.command {
        Command::Serve(args) => serve::run(&args),
        Command::Shorten(args) => shorten::run(&args),
        Command::Links(args) => links::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Tags(command) => tags::run(&command),
        Command::Workspace(command) => workspace::run(&command),
        Command::Migrate(args) => migrate::run(&args),
        Command::Backup(args) => backup::run(&args),
        Command::Copy(args) => copy::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Privacy(args) => privacy::run(&args),
        Command::User(args) => user::run(&args),
        Command::Key(args) => key::run(&args),
        Command::Canon(args) => canon::run(&args),
        Command::Code(args) => code::run(&args),
        Command::CounterCode(args) => counter_code::run(&args),
        Command::Completions(args) => completions::run(&args),
    };
    done.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declarations_of_all_subcommands_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_subcommand_says_what_it_does_and_shows_an_example() {
        fn check(parent: &clap::Command) {
            for command in parent.get_subcommands() {
                let name = format!("{} {}", parent.get_name(), command.get_name());
                assert!(command.get_about().is_some(), "{name} has no about");
                let examples = command.get_after_help().map(ToString::to_string);
                assert!(examples.unwrap_or_default().contains("Example"), "{name}: no example");
                check(command);
            }
        }
        check(&Cli::command());
    }
}
