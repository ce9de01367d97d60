//! `stoker plan`: what will run, where, in which order, and why.

mod cluster;
mod graph;
mod json;
mod problems;
mod summary;

use std::path::PathBuf;

use clap::ValueEnum;
use stoker_planner::state::{OldStates, State, master_document};
use stoker_planner::{Explainer, PlanningInput, Request, Settings, plan};

use crate::exit::{Exit, Failure, Outcome};
use crate::host::SystemHost;
use crate::input::read_helpers;
use crate::printer::Printer;
use cluster::Cluster;
use graph::Graph;

/// Compute a plan without running anything
#[derive(Debug, clap::Args)]
#[command(after_help = "\
`--nodes` is a folder with a document for each node, YAML or JSON; files without a top-level `uid` are left alone. What
all documents have in common is the state of the cluster. `--tags` maps uids to lists of tags, as in
`{\"1\": [\"primary-controller\"], \"2\": [\"compute\"]}`. `--old` is a folder like `--nodes`: the state with which every
task last succeeded; without it this is a first run.

With `--output json`, standard output holds {\"instances\": [{\"task\", \"node\", \"action\", \"reason\"}], \"edges\":
[[before, after]], \"fault_tolerance_groups\": […], \"warnings\": […]} and nothing else. The exit code is 1 when there
is no plan, so that a graph can be checked in a pipeline.

Examples:
  stoker plan --offline --tasks graph.yaml --nodes nodes/ --tags tags.yaml
  stoker plan --offline --tasks core/*.yaml plugin.yaml --nodes new/ --old old/ --tags tags.yaml --output json")]
pub(crate) struct Args {
    /// Plan from files, without a server
    #[arg(long, required = true)]
    offline: bool,

    /// Files with tasks; of a task that is in several, the later file wins, attribute by attribute
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    tasks: Vec<PathBuf>,

    /// Folder with the new state of each node
    #[arg(long, value_name = "DIR")]
    nodes: PathBuf,

    /// Tags of each node, YAML or JSON
    #[arg(long, value_name = "FILE")]
    tags: PathBuf,

    /// Folder with the state of each node at the last success
    #[arg(long, value_name = "DIR")]
    old: Option<PathBuf>,

    /// Folder of helper files, or one such file, whose functions can be called
    #[arg(long, value_name = "DIR")]
    helpers: Option<PathBuf>,

    /// Run only these tasks
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    only_tasks: Option<Vec<String>>,

    /// Take only these nodes
    #[arg(long, value_name = "UID", value_delimiter = ',')]
    only_nodes: Option<Vec<String>>,

    /// Plan as if nothing had ever succeeded
    #[arg(long)]
    force: bool,

    /// Tell about what is skipped, too
    #[arg(long, conflicts_with = "output")]
    all: bool,

    /// Longest collection an expression may walk; grows with the number of nodes if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    limit_iterators: Option<i64>,

    /// Largest single value of an expression, in bytes; grows with the number of nodes if not given
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    memory_quota: Option<i64>,

    /// Format of the plan: text (the default) or json
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    output: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let library = match &args.helpers {
        Some(path) => {
            let helpers = read_helpers(path, &stoker_planner::library())?;
            helpers.warnings.iter().for_each(|warning| printer.diagnostic(warning));
            helpers.library
        }
        None => stoker_planner::library(),
    };
    let graph = Graph::read(&args.tasks, printer)?;
    let cluster = Cluster::read(&args.nodes, printer)?;
    let mut warnings = Vec::new();
    let nodes = cluster::tagged(&cluster, &args.tags, &mut warnings)?;
    let old = args.old.as_ref().map(|path| Cluster::read(path, printer)).transpose()?.map(|old| as_old(&old));
    let input = PlanningInput {
        library,
        old: old.as_ref(),
        request: Request {
            nodes: args.only_nodes.clone(),
            tasks: args.only_tasks.clone(),
            force: args.force,
            ..Request::default()
        },
        settings: settings(args),
        ..PlanningInput::new(&graph.tasks, cluster.common.clone(), nodes)
    };
    let (plan, report) = plan(&input).map_err(|report| Failure {
        exit: Exit::Failed,
        diagnostics: report.errors().map(|problem| problems::diagnostic(problem, &graph)).collect(),
    })?;
    let options = Explainer::options(&input);
    let explainer = Explainer::new(&input, &options);
    warnings.extend(graph.warnings.iter().cloned());
    if args.output == Some(Format::Json) {
        return Ok(printer.data(&json::text(&plan, &explainer, &report, &warnings, &graph))?);
    }
    for warning in &warnings {
        printer.note(&format!("warning: {warning}"));
    }
    report.warnings().for_each(|problem| printer.diagnostic(&problems::diagnostic(problem, &graph)));
    Ok(printer.page(&summary::text(&plan, &explainer, &report, args.all))?)
}

fn settings(args: &Args) -> Settings {
    let host = SystemHost::new(None);
    Settings {
        limit_iterators: args.limit_iterators,
        memory_quota: args.memory_quota,
        now_micros: stoker_yaql::Host::now_micros(&host),
        random_bits: stoker_yaql::Host::random_bits(&host),
        n_threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    }
}

/// What every task succeeded with, if this is how the cluster was.
fn as_old(cluster: &Cluster) -> OldStates {
    let mut old = OldStates::default();
    let state = |node| State { common: cluster.common.clone(), node };
    for (uid, own) in &cluster.nodes {
        old.set_node(uid, state(own.clone()));
    }
    old.set_node(stoker_planner::state::MASTER, state(master_document()));
    old.set_node(stoker_planner::state::SYNC, state(stoker_planner::state::Document::default()));
    old
}
