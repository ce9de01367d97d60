//! The one executable: a few lines over the libraries.

mod local;

use std::process::ExitCode;

use stoker_cli::Programs;

/// Evaluation makes and drops many small values; this allocator is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PROGRAMS: Programs = Programs {
    agent: |settings, tell| Ok(stoker_agent::main(settings, tell)?),
    openapi: stoker_server::openapi_text,
    rotate_module_keys: |database, key_file| {
        let rotated = stoker_server::rotate_keys(database, key_file)?;
        Ok(format!("{} contents are sealed with the new key `{}`", rotated.n_sealed, rotated.key))
    },
    serve: |settings, tell| Ok(stoker_server::run(settings, local::spawner(), tell)?),
};

fn main() -> ExitCode {
    stoker_cli::main(std::env::args_os(), &PROGRAMS)
}
