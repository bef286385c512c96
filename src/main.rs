//! The `kurz` program: a doorway to [`kurz::cli`], nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    kurz::cli::main()
}
