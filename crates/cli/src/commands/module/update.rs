use std::path::PathBuf;

use serde_json::{Map, json};
use stoker_client::Method;

use super::fields::{Fields, read_payload};
use super::find::{SingleModule, module_path};
use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, typed};

/// Update a module; omitted fields keep their values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A module that is applied to nodes can be updated only if `--live-update` is set. Nodes keep the old version until the
module is applied again.

Examples:
  stoker module update licence --apply-order 3
  stoker module update licence --file new.module --priority-apply false")]
pub(super) struct Args {
    /// Module ID or name
    #[arg(value_name = "MODULE")]
    module: String,

    /// New name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// New module type
    #[arg(long = "type", value_name = "TYPE")]
    module_type: Option<String>,

    /// File with the new payload; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Make the module available for all releases
    #[arg(long, conflicts_with = "datastore")]
    all_datastores: bool,

    /// Make the module available for all release versions
    #[arg(long, conflicts_with = "datastore_version")]
    all_datastore_versions: bool,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut module = Map::new();
    module.extend(args.name.clone().map(|name| ("name".to_owned(), name.into())));
    module.extend(args.module_type.clone().map(|name| ("module_type".to_owned(), name.into())));
    if let Some(file) = &args.file {
        module.insert("contents".to_owned(), read_payload(file)?.into());
    }
    module.extend(args.all_datastores.then(|| ("all_datastores".to_owned(), true.into())));
    module.extend(args.all_datastore_versions.then(|| ("all_datastore_versions".to_owned(), true.into())));
    args.fields.apply_to(&mut module);
    if module.is_empty() {
        return Err(Failure::usage("no fields to update", "pass at least one, such as `--apply-order 3`"));
    }
    let path = module_path(remote, &args.module)?;
    let response = remote.send_json(Method::Put, path, &json!({"module": module}))?;
    remote.report_change("updated module", &typed::<SingleModule>(&response)?.module)
}
