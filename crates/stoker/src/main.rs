//! The one executable: a few lines over the libraries.

use std::process::ExitCode;

/// Evaluation makes and drops many small values; this allocator is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    stoker_cli::main(std::env::args_os())
}
