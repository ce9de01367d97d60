use serde_json::json;
use stoker_api_types::modules::ModuleResults;
use stoker_client::Method;

use super::RESULTS;
use super::find::{ModuleList, module_id, node_modules_path};
use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, typed};

/// Apply modules to a node and wait for completion
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Modules are applied in their configured order: priority modules first, then by apply order, then by name. The order of
the arguments is ignored. A failed module does not stop the others; the command then exits with code 1.

Examples:
  stoker module apply 7 licence greeting
  stoker module apply node-7 licence --output json")]
pub(super) struct Args {
    /// Node ID or name
    #[arg(value_name = "NODE")]
    node: String,

    /// Module IDs or names
    #[arg(value_name = "MODULE", required = true)]
    modules: Vec<String>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut ids = Vec::new();
    for name in &args.modules {
        ids.push(json!({"id": module_id(remote, name)?}));
    }
    let path = node_modules_path(remote, &args.node)?;
    let response = remote.send_json(Method::Post, path, &json!({"modules": ids}))?;
    let ModuleList { modules: results } = typed(&response)?;
    let failed =
        typed::<ModuleResults>(&response)?.modules.into_iter().filter(|result| result.status != "OK");
    let failed: Vec<String> = failed.map(|result| result.name).collect();
    remote.list(RESULTS, results)?;
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "failed to apply {}: {}",
        crate::text::counted(failed.len(), "module"),
        failed.join(", ")
    )))
}
