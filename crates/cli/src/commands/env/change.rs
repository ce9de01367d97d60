use serde_json::{Map, Value as Json, json};
use stoker_api_types::clusters::ClusterView;
use stoker_client::{Method, RestRequest};

use super::{EnvArg, release_move};
use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, confirm, sanitize, set};

/// Create a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env create production --release 1
  ID=$(stoker env create test --release 1 --quiet)")]
pub(super) struct CreateArgs {
    /// Cluster name
    #[arg(value_name = "NAME")]
    name: String,

    /// Release ID
    #[arg(long, short, value_name = "ID")]
    release: i64,

    /// Deployment mode: `ha_compact`, `ha_full` or `multinode` [default: set by the release]
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,

    /// Component to enable, such as `hypervisor:qemu`; can be repeated or comma-separated
    #[arg(long = "component", value_name = "NAME", value_delimiter = ',')]
    components: Vec<String>,
}

/// Update a cluster; omitted fields keep their values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env update 1 --name production
  stoker env update 1 --release 2 --dry-run
  stoker env update 1 --release 2
  stoker env update 1 --merge-order release,plugins,cluster --merge-mode replace")]
pub(super) struct UpdateArgs {
    #[command(flatten)]
    env: EnvArg,

    /// New name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// ID of the release to which the cluster moves; the next plan shows the tasks that run because of it
    #[arg(long, short, value_name = "ID")]
    release: Option<i64>,

    /// Show the tasks, settings, roles and plugins that change with the release, and change nothing
    #[arg(long, requires = "release", conflicts_with_all = ["name", "merge_order", "merge_mode"])]
    dry_run: bool,

    /// Order in which graph layers are merged, lowest precedence first, such as `release,cluster,plugins`
    #[arg(long, value_name = "ORDER")]
    merge_order: Option<String>,

    /// Effect of a task on the same task in an earlier layer: `attributes` overrides the attributes it sets, `replace` the whole task
    #[arg(long, value_name = "MODE")]
    merge_mode: Option<String>,
}

/// Delete a cluster and make its nodes available to other clusters
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Asks for confirmation unless the cluster has the status `new`: it was never deployed.

Examples:
  stoker env delete 1
  stoker env delete 1 --yes")]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,

    /// Delete the cluster even while a run is active; implies `--yes`
    #[arg(long)]
    force: bool,
}

pub(super) fn create(args: &CreateArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut body = json!({"name": args.name, "release_id": args.release});
    if let Some(mode) = &args.mode {
        set(&mut body, "mode", mode);
    }
    if !args.components.is_empty() {
        set(&mut body, "components", &args.components);
    }
    let cluster = remote.send_json(Method::Post, "clusters", &body)?;
    remote.report_change("created cluster", &cluster)
}

pub(super) fn update(args: &UpdateArgs, remote: &mut Remote<'_>) -> Outcome {
    if let (Some(release), true) = (args.release, args.dry_run) {
        return release_move::preview(args.env.id(), release, remote);
    }
    let mut body = Map::new();
    if let Some(release) = args.release {
        body.insert("release_id".to_owned(), json!(release));
    }
    let fields = [("name", &args.name), ("merge_order", &args.merge_order), ("merge_mode", &args.merge_mode)];
    for (key, value) in fields {
        if let Some(value) = value {
            body.insert(key.to_owned(), json!(value));
        }
    }
    if body.is_empty() {
        return Err(Failure::usage("no fields to update", "pass at least one, such as `--name`"));
    }
    let id = args.env.id();
    let cluster = remote.send_json(Method::Put, format!("clusters/{id}"), &Json::Object(body))?;
    remote.report_change("updated cluster", &cluster)
}

pub(super) fn delete(args: &DeleteArgs, remote: &mut Remote<'_>) -> Outcome {
    let id = args.env.id();
    let cluster: ClusterView = remote.read(format!("clusters/{id}"))?;
    let status = sanitize(&cluster.status);
    let question = format!("Cluster {id} ({}) is {status}. Delete it?", sanitize(&cluster.name));
    confirm(&question, args.yes || args.force || status == "new")?;
    let request = RestRequest::new(Method::Delete, format!("clusters/{id}"));
    remote.send(&request.query_opt("force", args.force.then_some(1)))?;
    remote.note(&format!("deleted cluster {id}"));
    Ok(())
}
