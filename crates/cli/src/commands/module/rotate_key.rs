use std::path::PathBuf;

use crate::commands::serve::{Location, key_file};
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::programs::Programs;

/// Create a new encryption key and re-encrypt all module payloads
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Changes the database and the key file directly, without a server. Servers may be running. The previous key stays in the file until
the next rotation. If several servers share the database, copy the key file to all of them.

Examples:
  stoker module rotate-key --data-dir /var/lib/stoker
  STOKER_DATABASE_URL=postgres://stoker@db/stoker stoker module rotate-key --modules-key-file /etc/stoker/modules.key")]
pub(super) struct Args {
    #[command(flatten)]
    location: Location,

    /// File with the encryption keys [default: `modules.key` in the data directory]
    #[arg(long, value_name = "FILE")]
    modules_key_file: Option<PathBuf>,
}

pub(super) fn run(args: Args, programs: &Programs, printer: &mut Printer) -> Outcome {
    let database = args.location.resolve()?;
    let key_file = key_file(args.modules_key_file, &database);
    let summary = (programs.rotate_module_keys)(&database, &key_file);
    let summary = summary.map_err(|error| Failure::unavailable(error.as_ref()))?;
    printer.note(&summary);
    Ok(())
}
