use serde_json::{Map, Value as Json, json};
use stoker_client::{Method, Request};

use super::EnvArg;
use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, cell, confirm};

/// Make a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env create production --release 1
  ID=$(stoker env create test --release 1 --quiet)")]
pub(super) struct CreateArgs {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,

    /// The release that it is a cluster of
    #[arg(long, short, value_name = "ID")]
    release: i64,

    /// Its mode: `ha_compact`, `ha_full` or `multinode`
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,

    /// Components, as the wizard would choose them
    #[arg(long = "component", value_name = "NAME", value_delimiter = ',')]
    components: Vec<String>,
}

/// Change a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env update 1 --name production
  stoker env update 1 --merge-order release,plugins,cluster --merge-mode replace")]
pub(super) struct UpdateArgs {
    #[command(flatten)]
    env: EnvArg,

    /// A new name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Which layer of its graphs wins, weak to strong
    #[arg(long, value_name = "ORDER")]
    merge_order: Option<String>,

    /// What a stronger layer overrides: attributes, or replace for whole tasks
    #[arg(long, value_name = "MODE")]
    merge_mode: Option<String>,
}

/// Delete a cluster; its nodes are free again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A cluster that is deployed is asked about first; `--yes` answers beforehand.

Examples:
  stoker env delete 1
  stoker env delete 1 --yes")]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Even while something runs on it
    #[arg(long)]
    force: bool,
}

pub(super) fn create(args: &CreateArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut body = json!({"name": args.name, "release_id": args.release});
    if let Some(mode) = &args.mode {
        body["mode"] = json!(mode);
    }
    if !args.components.is_empty() {
        body["components"] = json!(args.components);
    }
    let cluster = remote.send_json(Method::Post, "clusters", &body)?;
    remote.made("made cluster", &cluster)
}

pub(super) fn update(args: &UpdateArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut body = Map::new();
    let given = [("name", &args.name), ("merge_order", &args.merge_order), ("merge_mode", &args.merge_mode)];
    for (key, value) in given {
        if let Some(value) = value {
            body.insert(key.to_owned(), json!(value));
        }
    }
    if body.is_empty() {
        return Err(Failure::usage("nothing is to be changed", "add `--name`, or see `--help`"));
    }
    let id = args.env.id();
    let cluster = remote.send_json(Method::Put, format!("clusters/{id}"), &Json::Object(body))?;
    remote.made("changed cluster", &cluster)
}

pub(super) fn delete(args: &DeleteArgs, remote: &mut Remote<'_>) -> Outcome {
    let id = args.env.id();
    let cluster = remote.get(format!("clusters/{id}"))?;
    let status = cell(&cluster["status"]);
    let question = format!("Cluster {id} ({}) is {status}. Delete it?", cell(&cluster["name"]));
    confirm(&question, args.yes || args.force || status == "new")?;
    let request = Request::new(Method::Delete, format!("clusters/{id}"));
    remote.send(&request.maybe("force", args.force.then_some(1)))?;
    remote.note(&format!("deleted cluster {id}"));
    Ok(())
}
