//! `stoker man`: manual pages generated from the help texts.

use std::path::PathBuf;

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;

/// Generate man pages, one per command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker man /usr/local/share/man/man1
  stoker man . && man ./stoker-serve.1")]
pub(crate) struct Args {
    /// Output directory; created if missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args, grammar: clap::Command, printer: &mut Printer) -> Outcome {
    let folder = args.folder.display();
    let result =
        std::fs::create_dir_all(&args.folder).and_then(|()| clap_mangen::generate_to(grammar, &args.folder));
    result.map_err(|error| Failure::unwritable(&args.folder, &error))?;
    printer.note(&format!("wrote manual pages to {folder}"));
    Ok(())
}
