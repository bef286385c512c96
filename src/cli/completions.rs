//! `kurz completions`: the script that lets a shell complete the command line. It installs nothing.
//!
//! Invariant: the script comes from the same declarations as the parser, so it cannot lag behind.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, CliError};

const EXAMPLES: &str = "\
Examples:
  kurz completions bash > ~/.local/share/bash-completion/completions/kurz
  kurz completions zsh  > ~/.zfunc/_kurz
  kurz completions fish > ~/.config/fish/completions/kurz.fish";

/// Print the completion script of a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    // Into memory first: the generator panics when a write fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "kurz", &mut script);
    io::stdout().write_all(&script).map_err(|error| CliError::writing(&error))
}
