use stoker_client::Request;

use super::RESULTS;
use super::find::{carried_path, module_path};
use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// List the nodes that carry a module, or the modules that a node carries
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker module instances licence
  stoker module instances licence --count
  stoker module instances --node 7")]
pub(super) struct Args {
    /// Id or name of the module
    #[arg(value_name = "MODULE", required_unless_present = "node")]
    module: Option<String>,

    /// What this node carries
    #[arg(long, value_name = "NODE", conflicts_with_all = ["module", "count"])]
    node: Option<String>,

    /// How many nodes carry which version of it
    #[arg(long)]
    count: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    if let Some(node) = &args.node {
        let path = carried_path(remote, node)?;
        let carried = remote.get(path)?;
        return remote.list(RESULTS, carried["modules"].as_array().cloned().unwrap_or_default());
    }
    let Some(module) = &args.module else {
        return Err(Failure::usage("no module was named", "name one, or a node with `--node`"));
    };
    let path = format!("{}/instances", module_path(remote, module)?);
    if args.count {
        let counted = remote.send(&Request::get(path).query("count_only", true))?;
        return remote.list(
            &[
                ("md5", "module_md5"),
                ("current", "current"),
                ("instances", "instance_count"),
                ("first", "min_updated_date"),
                ("last", "max_updated_date"),
            ],
            counted["instances"].as_array().cloned().unwrap_or_default(),
        );
    }
    let mut all = Vec::new();
    let mut query = String::new();
    loop {
        let page = remote.get(format!("{path}{query}"))?;
        all.extend(page["instances"].as_array().cloned().unwrap_or_default());
        match page["links"][0]["href"].as_str().and_then(|href| href.split_once('?')) {
            Some((_, next)) => query = format!("?{next}"),
            None => break,
        }
    }
    remote.list(&[("id", "id"), ("name", "name"), ("status", "status"), ("release", "datastore.type")], all)
}
