use std::path::PathBuf;

use crate::commands::serve::{Location, key_file};
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::programs::Programs;

/// Seal the contents of all modules with a new key, beside the database
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Asks no server: it works on the database and the key file, also while a server uses them. The key before the new one
stays in the file until the next time. Where several servers share a database, copy the file to all of them.

Examples:
  stoker module rotate-key --data-dir /var/lib/stoker
  STOKER_DATABASE_URL=postgres://stoker@db/stoker stoker module rotate-key --modules-key-file /etc/stoker/modules.key")]
pub(super) struct Args {
    #[command(flatten)]
    location: Location,

    /// Where the keys are [default: modules.key beside the embedded database]
    #[arg(long, value_name = "FILE")]
    modules_key_file: Option<PathBuf>,
}

pub(super) fn run(args: Args, programs: &Programs, printer: &mut Printer) -> Outcome {
    let database = args.location.resolve()?;
    let key_file = key_file(args.modules_key_file, &database);
    let told = (programs.rotate_module_keys)(&database, &key_file);
    let told = told.map_err(|error| Failure::unavailable(error.as_ref()))?;
    printer.note(&told);
    Ok(())
}
