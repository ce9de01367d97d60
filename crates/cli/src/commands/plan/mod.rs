//! `stoker plan`: what will run, where, in which order, and why.

mod cluster;
mod durations;
mod graph;
mod json;
mod picture;
mod problems;
mod summary;

use std::path::PathBuf;

use clap::ValueEnum;
use stoker_planner::state::{OldStates, State, master_document};
use stoker_planner::{ExplainedPlan, Plan, PlanningInput, Request, Settings, check, plan};

use crate::diagnostic::Diagnostic;
use crate::exit::{Exit, Failure, Outcome};
use crate::host::SystemHost;
use crate::input::read_library;
use crate::printer::Printer;
use cluster::Cluster;
use durations::Durations;
use graph::Graph;
use picture::PictureArgs;

/// Compute a plan without running anything
#[derive(Debug, clap::Args)]
#[command(after_help = "\
`--nodes` is a folder with a document for each node, YAML or JSON; files without a top-level `uid`
are left alone. What all documents have in common is the state of the cluster. `--tags` maps uids to
lists of tags, as in `{\"1\": [\"primary-controller\"], \"2\": [\"compute\"]}`. `--old` is a folder like
`--nodes`: the state with which every task last succeeded; without it this is a first run.

With `--output json`, standard output holds {\"instances\": [{\"task\", \"node\", \"action\", \"reason\"}],
\"edges\": [[before, after]], \"fault_tolerance_groups\": […], \"warnings\": […]} and nothing else. The
exit code is 1 when there is no plan, so that a graph can be checked in a pipeline.

With `--output dot`, `svg` or `mermaid` it is a picture: of the task instances and their order, or
with `--graph tasks` of the tasks as they are written. `--only-task`, `--only-node`, `--parents-of`
and `--runs-only` choose what is drawn; `--only-tasks` and `--only-nodes` choose what is planned.

`--durations` is a file with milliseconds, {\"TASK\": 1200} or {\"TASK\": {\"UID\": 1200}}. The text
then ends with how long the plan will take and with the chain of tasks that takes longest. A task
that is not in it is taken to last as long as it does on other nodes, else as tasks of its type do,
else half a minute.

Examples:
  stoker plan --offline --tasks graph.yaml --nodes nodes/ --tags tags.yaml
  stoker plan --offline --tasks a.yaml b.yaml --nodes new/ --old old/ --tags tags.yaml -o json
  stoker plan --offline --tasks graph.yaml --nodes nodes/ --tags tags.yaml -o svg > plan.svg")]
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

    /// How long tasks take, to estimate how long the plan will
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    durations: Option<PathBuf>,

    /// Format of the plan: text (the default), json, dot, svg or mermaid
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    output: Option<Format>,

    #[command(flatten)]
    picture: PictureArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Dot,
    Svg,
    Mermaid,
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let format = args.output.unwrap_or(Format::Text);
    args.picture.check(format)?;
    let durations = args.durations.as_deref().map(Durations::read).transpose()?;
    let library = match &args.helpers {
        Some(path) => read_library(path, printer)?,
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
    judge(&plan)?;
    let explained = ExplainedPlan::new(&input, plan, report);
    warnings.extend(graph.warnings.iter().cloned());
    if format == Format::Json {
        return Ok(printer.pieces(|out| json::write(out, &explained, &warnings, &graph))?);
    }
    for warning in &warnings {
        printer.note(&format!("warning: {warning}"));
    }
    explained.problems.iter().for_each(|problem| printer.diagnostic(&problems::diagnostic(problem, &graph)));
    if format != Format::Text {
        return Ok(printer.data(&args.picture.draw(format, &explained.plan, &graph.tasks)?)?);
    }
    let mut text = summary::text(&explained, args.all);
    if let Some(durations) = &durations {
        text.push_str(&durations.text(&explained.plan));
    }
    Ok(printer.page(&text)?)
}

/// No plan is shown that another look at it finds wrong. It is never the fault of a user.
fn judge(plan: &Plan) -> Outcome {
    let findings = check(plan);
    if findings.is_empty() {
        return Ok(());
    }
    let help = "this is a mistake of the program and not yours; please report it with the graph";
    let diagnostic = |finding: &stoker_planner::Finding| {
        Diagnostic::error(format!("the plan is wrong: {finding}"))
            .code("internal")
            .help(Some(help.to_owned()))
    };
    Err(Failure { exit: Exit::Failed, diagnostics: findings.iter().map(diagnostic).collect() })
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
