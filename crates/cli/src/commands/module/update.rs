use std::path::PathBuf;

use serde_json::{Map, json};
use stoker_client::Method;

use super::fields::{Fields, contents};
use super::find::module_path;
use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// Change a module; what is not given stays
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A module that a node carries can be changed only if it has `--live-update`; the node keeps what it has until the module
is applied again.

Examples:
  stoker module update licence --apply-order 3
  stoker module update licence --file new.module --priority-apply false")]
pub(super) struct Args {
    /// Id or name of the module
    #[arg(value_name = "MODULE")]
    module: String,

    /// Another name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Another driver
    #[arg(long = "type", value_name = "TYPE")]
    module_type: Option<String>,

    /// Other contents; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,

    /// For all releases from now on
    #[arg(long, conflicts_with = "datastore")]
    all_datastores: bool,

    /// For all versions from now on
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
        module.insert("contents".to_owned(), contents(file)?.into());
    }
    module.extend(args.all_datastores.then(|| ("all_datastores".to_owned(), true.into())));
    module.extend(args.all_datastore_versions.then(|| ("all_datastore_versions".to_owned(), true.into())));
    args.fields.lay(&mut module);
    if module.is_empty() {
        return Err(Failure::usage("nothing to change", "say what, for example `--apply-order 3`"));
    }
    let path = module_path(remote, &args.module)?;
    let changed = remote.send_json(Method::Put, path, &json!({"module": module}))?;
    remote.made("changed module", &changed["module"])
}
