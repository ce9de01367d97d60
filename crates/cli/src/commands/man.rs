//! `stoker man`: what `--help` says, as manual pages.

use std::path::PathBuf;

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;

/// Write manual pages, one for each command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker man /usr/local/share/man/man1
  stoker man . && man ./stoker-serve.1")]
pub(crate) struct Args {
    /// Folder for the pages; made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let folder = args.folder.display();
    let written = std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(args::command(), &args.folder));
    written.map_err(|error| Failure::unwritable(&args.folder, &error))?;
    printer.note(&format!("the manual pages are in {folder}"));
    Ok(())
}
