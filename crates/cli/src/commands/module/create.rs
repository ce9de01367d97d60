use std::path::PathBuf;

use serde_json::{Map, json};
use stoker_client::Method;

use super::MODULES;
use super::fields::{Fields, read_payload};
use super::find::SingleModule;
use crate::exit::Outcome;
use crate::remote::{Remote, typed};

/// Create a module from a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The payload is stored encrypted and is sent only to nodes that the module is applied to.

Examples:
  stoker module create greeting --type ping --file message.txt
  stoker module create licence --type file --file licence.module --priority-apply --apply-order 0 --all-tenants")]
pub(super) struct Args {
    /// Module name
    #[arg(value_name = "NAME")]
    name: String,

    /// Module type: `ping`, `file`, `script` or a type added by a driver
    #[arg(long = "type", value_name = "TYPE")]
    module_type: String,

    /// File with the payload; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut module = Map::new();
    module.insert("name".to_owned(), args.name.clone().into());
    module.insert("module_type".to_owned(), args.module_type.clone().into());
    module.insert("contents".to_owned(), read_payload(&args.file)?.into());
    args.fields.apply_to(&mut module);
    let response = remote.send_json(Method::Post, MODULES, &json!({"module": module}))?;
    remote.report_change("created module", &typed::<SingleModule>(&response)?.module)
}
