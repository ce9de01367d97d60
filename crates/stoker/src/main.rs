//! The `stoker` executable: connects the command line with the server and agent crates.

mod local;

use std::process::ExitCode;

use stoker_cli::Programs;

/// YAQL evaluation allocates many small values, for which mimalloc is faster than the system allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PROGRAMS: Programs = Programs {
    agent: |settings, print_line| Ok(stoker_agent::main(settings, print_line)?),
    openapi: stoker_server::openapi_text,
    rotate_module_keys: |database, key_file| {
        let rotation = stoker_server::rotate_keys(database, key_file)?;
        Ok(format!("re-encrypted {} module payloads with the new key `{}`", rotation.n_sealed, rotation.key))
    },
    serve: |settings, print_line| Ok(stoker_server::run(settings, local::spawner(), print_line)?),
};

fn main() -> ExitCode {
    stoker_cli::main(std::env::args_os(), &PROGRAMS)
}
