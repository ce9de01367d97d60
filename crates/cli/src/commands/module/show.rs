use super::find::{SingleModule, module_path};
use crate::exit::Outcome;
use crate::remote::{Remote, typed};

/// Show a module
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker module show licence
  stoker module show licence --output yaml")]
pub(super) struct Args {
    /// Module ID or name
    #[arg(value_name = "MODULE")]
    module: String,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = module_path(remote, &args.module)?;
    let response = remote.get(path)?;
    remote.details(
        &[
            ("id", "id"),
            ("name", "name"),
            ("type", "type"),
            ("description", "description"),
            ("tenant", "tenant"),
            ("release", "datastore"),
            ("version", "datastore_version"),
            ("priority", "priority_apply"),
            ("order", "apply_order"),
            ("auto", "auto_apply"),
            ("visible", "visible"),
            ("live update", "live_update"),
            ("admin", "is_admin"),
            ("md5", "md5"),
            ("nodes", "instance_count"),
            ("created", "created"),
            ("updated", "updated"),
        ],
        &typed::<SingleModule>(&response)?.module,
    )
}
