//! Measures the server and holds it to its limits: `cargo xtask bench server` runs this in release mode.
//!
//! Prints a Markdown table on standard output. Ends with 1 when a limit is missed.

#![expect(clippy::print_stdout, reason = "a tool for developers talks on standard output")]
#![expect(clippy::disallowed_methods, reason = "measuring is what the clock is here for")]

mod graph;
mod load;
mod merged;
mod row;
mod server;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use row::Row;

/// The allocator of the real program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run() {
        Ok(rows) => {
            println!("{}", row::table(&rows));
            let missed: Vec<&Row> = rows.iter().filter(|row| !row.is_met()).collect();
            for row in &missed {
                eprintln!("missed: {}", row.what);
            }
            if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<Vec<Row>, Box<dyn Error>> {
    let program =
        std::env::args_os().nth(1).map(PathBuf::from).ok_or("usage: stoker-bench PATH-OF-STOKER")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut rows = runtime.block_on(merged::measure())?;
    rows.extend(runtime.block_on(load::measure(&program))?);
    Ok(rows)
}
