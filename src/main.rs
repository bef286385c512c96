//! The `kurz` binary; everything is in [`kurz::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    kurz::cli::main()
}
