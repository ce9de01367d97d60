use serde_json::{Value as Json, json};
use stoker_client::Method;

use super::RESULTS;
use super::find::{carried_path, module};
use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// Apply modules to a node, in their order, and wait for the end
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Priority modules go first, then lower orders, then by name; the order on this line means nothing. One that fails stops
nobody, and is told at the end with exit code 1.

Examples:
  stoker module apply 7 licence greeting
  stoker module apply node-7 licence --output json")]
pub(super) struct Args {
    /// Id or name of the node
    #[arg(value_name = "NODE")]
    node: String,

    /// Ids or names of modules
    #[arg(value_name = "MODULE", required = true)]
    modules: Vec<String>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut ids = Vec::new();
    for name in &args.modules {
        ids.push(json!({"id": module(remote, name)?}));
    }
    let path = carried_path(remote, &args.node)?;
    let applied = remote.send_json(Method::Post, path, &json!({"modules": ids}))?;
    let results = applied["modules"].as_array().cloned().unwrap_or_default();
    let failed: Vec<String> = results
        .iter()
        .filter(|result| result["status"] != "OK")
        .filter_map(|result| result["name"].as_str().map(str::to_owned))
        .collect();
    remote.list(RESULTS, results.into_iter().collect::<Vec<Json>>())?;
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!("{} of the modules failed: {}", failed.len(), failed.join(", "))))
}
