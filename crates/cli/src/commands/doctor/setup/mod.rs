//! Checks before a server starts: the machine and the files named by the options.

mod certificate;
mod data;
mod database;
mod files;
mod keys;
mod nats;
mod plugins;
mod runs;

use std::path::PathBuf;

use stoker_model::ErrorChain;
use stoker_settings::DatabaseLocation;
use stoker_store::{Database, Inspection, Store};

use super::check_result::CheckResult;
use crate::commands::serve::{ServerData, key_file};
use crate::environment;
use crate::exit::Outcome;
use crate::runtime::block_on;

/// Check the configuration of a server before starting it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Accepts these options of `stoker serve` and its configuration file. Changes nothing: a missing database is not created,
and an old one is not migrated. No running server is needed.

Examples:
  stoker doctor setup
  stoker doctor setup --config /etc/stoker/serve.toml
  stoker doctor setup --data-dir /var/lib/stoker
  STOKER_DATABASE_URL=postgres://stoker@db/stoker stoker doctor setup --nats nats://127.0.0.1:4222
  stoker doctor setup --tls-cert server.pem --output json")]
pub(super) struct Args {
    #[command(flatten)]
    data: ServerData,

    /// Directory for installed plugins [default: `plugins` in the data directory]
    #[arg(long, value_name = "DIR")]
    plugins_root: Option<PathBuf>,

    /// File with the encryption keys for module payloads [default: `modules.key` in the data directory]
    #[arg(long, value_name = "FILE")]
    modules_key_file: Option<PathBuf>,

    /// NATS URL to connect to
    #[arg(long, value_name = "URL")]
    nats: Option<String>,

    /// PEM file with the server certificate, to check its validity
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
}

/// Inputs of the checks.
struct Setup {
    data_folder: PathBuf,
    plugins_root: PathBuf,
    key_file: PathBuf,
    nats: Option<String>,
    certificate: Option<PathBuf>,
    database: Database,
    /// State of the database; `None` if it does not exist, an error if it cannot be inspected.
    inspection: Result<Option<Inspection>, String>,
}

/// All checks of the server setup, in order.
const CHECKS: &[fn(&Setup) -> Vec<CheckResult>] = &[
    // sorted
    certificate::check,
    data::check,
    database::check,
    files::check,
    keys::check,
    nats::check,
    plugins::check,
    runs::check,
    // end sorted
];

pub(super) fn run_checks(args: Args) -> Outcome<Vec<CheckResult>> {
    let location = args.data.resolve()?;
    let key_file = key_file(args.modules_key_file, &location);
    let (data_folder, database) = match location {
        DatabaseLocation::Folder(folder) => {
            let path = folder.join(DatabaseLocation::FILE);
            (folder, Database::Sqlite { path })
        }
        DatabaseLocation::Url(url) => {
            let folder = environment::data_folder().unwrap_or_default();
            (folder, Database::Postgres { url: url.reveal().to_owned() })
        }
    };
    let inspection = block_on(Store::inspect(&database))?;
    let setup = Setup {
        plugins_root: args.plugins_root.unwrap_or_else(|| data_folder.join("plugins")),
        key_file,
        nats: args.nats,
        certificate: args.tls_cert,
        inspection: inspection.map_err(|error| ErrorChain(&error).to_string()),
        data_folder,
        database,
    };
    Ok(CHECKS.iter().flat_map(|check| check(&setup)).collect())
}
