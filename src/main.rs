//! The `kurz` binary; everything is in [`kurz::cli`].

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    kurz::cli::main()
}
