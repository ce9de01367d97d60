use stoker_client::RestRequest;

use super::RESULTS;
use super::find::{InstancePage, ModuleList, module_path, next_query, node_modules_path};
use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, typed};

/// List the nodes that have a module, or the modules of a node
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker module instances licence
  stoker module instances licence --count
  stoker module instances --node 7")]
pub(super) struct Args {
    /// Module ID or name
    #[arg(value_name = "MODULE", required_unless_present = "node")]
    module: Option<String>,

    /// Node ID or name; lists the modules of this node
    #[arg(long, value_name = "NODE", conflicts_with_all = ["module", "count"])]
    node: Option<String>,

    /// Print only the number of nodes per module version
    #[arg(long)]
    count: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    if let Some(node) = &args.node {
        let path = node_modules_path(remote, node)?;
        let ModuleList { modules } = remote.read(path)?;
        return remote.list(RESULTS, modules);
    }
    let Some(module) = &args.module else {
        return Err(Failure::usage("no module specified", "pass a module, or a node with `--node`"));
    };
    let path = format!("{}/instances", module_path(remote, module)?);
    if args.count {
        let counts: InstancePage = typed(&remote.send(&RestRequest::get(path).query("count_only", true))?)?;
        return remote.list(
            &[
                ("md5", "module_md5"),
                ("current", "current"),
                ("nodes", "instance_count"),
                ("first applied", "min_updated_date"),
                ("last applied", "max_updated_date"),
            ],
            counts.instances,
        );
    }
    let mut nodes = Vec::new();
    let mut query = String::new();
    loop {
        let page: InstancePage = remote.read(format!("{path}{query}"))?;
        nodes.extend(page.instances);
        match next_query(&page.links) {
            Some(next) => query = next,
            None => break,
        }
    }
    remote.list(&[("id", "id"), ("name", "name"), ("status", "status"), ("release", "datastore.type")], nodes)
}
