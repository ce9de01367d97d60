//! Plans from files, without a server.

use std::path::PathBuf;

use stoker_planner::state::{OldStates, State, master_document};
use stoker_planner::{ExplainedPlan, Plan, PlanningInput, Request, Settings, check, plan};

use super::cluster::{self, Cluster};
use super::durations::Durations;
use super::graph::Graph;
use super::{Format, MakeArgs, json, problems, summary};
use crate::diagnostic::Diagnostic;
use crate::exit::{Exit, Failure, Outcome};
use crate::host::SystemHost;
use crate::input::read_library;
use crate::printer::Printer;

/// What a plan is made from, where no server has it.
#[derive(Debug, clap::Args)]
pub(super) struct Files {
    /// Files with tasks; of a task that is in several, the later file wins, attribute by attribute
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "offline", help_heading = HEADING)]
    tasks: Vec<PathBuf>,

    /// Folder with the new state of each node
    #[arg(long, value_name = "DIR", requires = "offline", help_heading = HEADING)]
    nodes: Option<PathBuf>,

    /// Tags of each node, YAML or JSON
    #[arg(long, value_name = "FILE", requires = "offline", help_heading = HEADING)]
    tags: Option<PathBuf>,

    /// Folder with the state of each node at the last success
    #[arg(long, value_name = "DIR", requires = "offline", help_heading = HEADING)]
    old: Option<PathBuf>,

    /// Folder of helper files, or one such file, whose functions can be called
    #[arg(long, value_name = "DIR", requires = "offline", help_heading = HEADING)]
    helpers: Option<PathBuf>,

    /// Longest collection an expression may walk; grows with the number of nodes if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "offline", help_heading = HEADING)]
    limit_iterators: Option<i64>,

    /// Largest single value of an expression, in bytes; grows with the number of nodes if not given
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, requires = "offline", help_heading = HEADING)]
    memory_quota: Option<i64>,

    /// How long tasks take, to estimate how long the plan will
    #[arg(long, value_name = "FILE", conflicts_with = "output", requires = "offline", help_heading = HEADING)]
    durations: Option<PathBuf>,
}

const HEADING: &str = "Without a server";

pub(super) fn run(args: &MakeArgs, printer: &mut Printer) -> Outcome {
    let files = &args.files;
    let (Some(nodes), Some(tags)) = (&files.nodes, &files.tags) else {
        return Err(Failure::usage("a plan without a server needs its files", "add `--nodes` and `--tags`"));
    };
    let format = args.output.unwrap_or(Format::Text);
    if format == Format::Yaml {
        return Err(Failure::usage("plans of files are not written as YAML", "use `--output json`"));
    }
    args.picture.check(format)?;
    let durations = files.durations.as_deref().map(Durations::read).transpose()?;
    let library = match &files.helpers {
        Some(path) => read_library(path, printer)?,
        None => stoker_planner::library(),
    };
    let graph = Graph::read(&files.tasks, printer)?;
    let cluster = Cluster::read(nodes, printer)?;
    let mut warnings = Vec::new();
    let nodes = cluster::tagged(&cluster, tags, &mut warnings)?;
    let old =
        files.old.as_ref().map(|path| Cluster::read(path, printer)).transpose()?.map(|old| as_old(&old));
    let input = PlanningInput {
        library,
        old: old.as_ref(),
        request: Request {
            nodes: args.wish.only_nodes.clone(),
            tasks: args.wish.only_tasks.clone(),
            force: args.wish.force,
            ..Request::default()
        },
        settings: settings(files),
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

fn settings(args: &Files) -> Settings {
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
