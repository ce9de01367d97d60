use super::owner::{DEFAULT_TYPE, OwnerArgs};
use crate::exit::Outcome;
use crate::remote::{Remote, confirm};

/// Delete a graph
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Asks for confirmation if `--type` is omitted, because the graph `default` is the one that deployments run.

Examples:
  stoker graph delete --env 1 --type upgrade
  stoker graph delete --release 2 --yes")]
pub(super) struct Args {
    #[command(flatten)]
    owner: OwnerArgs,

    /// Graph type [default: default]
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type)]
    graph_type: Option<String>,

    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let owner = args.owner.owner()?;
    let graph_type = args.graph_type.as_deref().unwrap_or(DEFAULT_TYPE);
    let question = format!("Delete the `{graph_type}` graph of {owner}?");
    confirm(&question, args.yes || args.graph_type.is_some())?;
    remote.delete(owner.graph_path(graph_type))?;
    remote.note(&format!("deleted the `{graph_type}` graph of {owner}"));
    Ok(())
}
