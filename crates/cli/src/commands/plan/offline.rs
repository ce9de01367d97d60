//! Offline plans: computed from files, without a server.

use std::path::PathBuf;

use stoker_diagnostics::{Diagnostic, Severity};
use stoker_planner::{
    EvaluationSettings, ExplainedPlan, NodeInput, Plan, PlanExtras, PlanScope, PlanningInput, check, plan,
    rendered_changes,
};
use stoker_state::{AppliedStates, EffectiveState, master_document};

use super::cluster::{self, Cluster};
use super::durations::Durations;
use super::graph::Graph;
use super::{Format, PlanArgs, json, summary};
use crate::exit::{Exit, Failure, Outcome};
use crate::host::SystemHost;
use crate::input::read_library;
use crate::printer::Printer;

/// Input files of an offline plan.
#[derive(Debug, clap::Args)]
pub(super) struct Files {
    /// Task files; later files override attributes of tasks in earlier files
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "offline", help_heading = HELP_HEADING)]
    tasks: Vec<PathBuf>,

    /// Directory with the desired state of each node
    #[arg(long, value_name = "DIR", requires = "offline", help_heading = HELP_HEADING)]
    nodes: Option<PathBuf>,

    /// YAML or JSON file with the tags of each node
    #[arg(long, value_name = "FILE", requires = "offline", help_heading = HELP_HEADING)]
    tags: Option<PathBuf>,

    /// Directory with the applied state of each node: its state at the last successful run
    #[arg(long, value_name = "DIR", requires = "offline", help_heading = HELP_HEADING)]
    old: Option<PathBuf>,

    /// Helper file, or directory with helper files, that define functions for expressions
    #[arg(long, value_name = "DIR", requires = "offline", help_heading = HELP_HEADING)]
    helpers: Option<PathBuf>,

    /// Maximum number of elements an expression may iterate over [default: scales with the number of nodes]
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "offline", help_heading = HELP_HEADING)]
    limit_iterators: Option<i64>,

    /// Maximum size of a value in an expression, in bytes [default: scales with the number of nodes]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, requires = "offline", help_heading = HELP_HEADING)]
    memory_quota: Option<i64>,

    /// File with task durations in milliseconds; prints the estimated duration of the plan
    #[arg(long, value_name = "FILE", conflicts_with = "output", requires = "offline", help_heading = HELP_HEADING)]
    durations: Option<PathBuf>,
}

const HELP_HEADING: &str = "Offline options";

pub(super) fn run(args: &PlanArgs, printer: &mut Printer) -> Outcome {
    let files = &args.files;
    let (Some(nodes), Some(tags)) = (&files.nodes, &files.tags) else {
        return Err(Failure::usage("`--offline` needs input files", "pass `--nodes` and `--tags`"));
    };
    let format = args.output.unwrap_or(Format::Text);
    if format == Format::Yaml {
        return Err(Failure::usage("offline plans cannot be written as YAML", "use `--output json`"));
    }
    args.diagram.check(format)?;
    let durations = files.durations.as_deref().map(Durations::read).transpose()?;
    let library = match &files.helpers {
        Some(path) => read_library(path, printer)?,
        None => stoker_planner::library(),
    };
    let graph = Graph::read(&files.tasks, printer)?;
    let cluster = Cluster::read(nodes, printer)?;
    let mut warnings = Vec::new();
    let nodes = cluster::read_tags(&cluster, tags, &mut warnings)?;
    let old_cluster = files.old.as_ref().map(|path| Cluster::read(path, printer)).transpose()?;
    let old = old_cluster.as_ref().map(old_states);
    let input = PlanningInput {
        library,
        old: old.as_ref(),
        request: PlanScope {
            nodes: args.options.only_nodes.clone(),
            tasks: args.options.only_tasks.clone(),
            force: args.options.force,
            ..PlanScope::default()
        },
        settings: settings(files),
        ..PlanningInput::new(&graph.tasks, cluster.common.clone(), nodes)
    };
    let (plan, report) = plan(&input).map_err(|report| Failure {
        exit: Exit::Failed,
        diagnostics: report.errors().map(|problem| graph.attach(problem)).collect(),
    })?;
    verify(&plan)?;
    let beside_plan = PlanExtras::new(&report).warnings;
    let mut explained = ExplainedPlan::new(&input, plan, report);
    explained.problems.extend(beside_plan);
    explained.problems.extend(graph.check(&input.library));
    warnings.extend(graph.warnings.iter().cloned());
    let is_warning = |problem: &&Diagnostic| problem.severity == Severity::Warning;
    let n_warnings =
        printer.n_warnings() + warnings.len() + explained.problems.iter().filter(is_warning).count();
    let printed = print(
        args,
        &Printed { explained: &explained, warnings: &warnings, graph: &graph },
        printer,
        |plan| {
            let mut extras = PlanExtras::default();
            if let Some(old) = &old_cluster {
                (extras.changes, extras.of) = rendered_changes(plan, &input, &input_over(&input, old));
            }
            let mut text =
                summary::text(&explained, args.display().level(), &extras, args.options.only_tasks.is_some());
            if let Some(durations) = &durations {
                text.push_str(&durations.text(plan));
            }
            text
        },
    );
    args.exit.finish(printed, n_warnings, summary::n_run(&explained) > 0)
}

/// A plan with the warnings of its input.
struct Printed<'p> {
    explained: &'p ExplainedPlan,
    warnings: &'p [String],
    graph: &'p Graph,
}

/// Prints a plan. `text` is called only for the text format, because it is expensive.
fn print(
    args: &PlanArgs,
    printed: &Printed<'_>,
    printer: &mut Printer,
    text: impl FnOnce(&Plan) -> String,
) -> Outcome {
    let Printed { explained, warnings, graph } = printed;
    let format = args.output.unwrap_or(Format::Text);
    if format == Format::Json {
        return Ok(printer.stream(|out| json::write(out, explained, warnings, graph))?);
    }
    for warning in *warnings {
        printer.note(&format!("warning: {warning}"));
    }
    explained.problems.iter().for_each(|problem| printer.diagnostic(&graph.attach(problem)));
    if format != Format::Text {
        return Ok(printer.data(&args.diagram.draw(format, &explained.plan, &graph.tasks)?)?);
    }
    Ok(printer.page(&text(&explained.plan))?)
}

/// Returns the input of a plan in which the state of the cluster is that of `old`. Nodes without an old state are left out.
fn input_over<'a>(input: &PlanningInput<'a>, old: &Cluster) -> PlanningInput<'a> {
    let node = |node: &NodeInput| {
        let (_, own) = old.nodes.iter().find(|(uid, _)| *uid == node.uid)?;
        Some(NodeInput { document: own.clone(), ..node.clone() })
    };
    PlanningInput {
        common: old.common.clone(),
        nodes: input.nodes.iter().filter_map(node).collect(),
        old: None,
        request: PlanScope::default(),
        ..input.clone()
    }
}

/// Verifies the invariants of a plan with an independent checker. A violation is a bug of the planner.
fn verify(plan: &Plan) -> Outcome {
    let violations = check(plan);
    if violations.is_empty() {
        return Ok(());
    }
    let help = "this is a bug in Stoker; please report it and attach the graph";
    let diagnostic = |violation: &Diagnostic| {
        let message = format!("the plan violates an invariant: {violation}");
        Diagnostic::error("internal", message).help(help)
    };
    Err(Failure { exit: Exit::Failed, diagnostics: violations.iter().map(diagnostic).collect() })
}

fn settings(args: &Files) -> EvaluationSettings {
    let host = SystemHost::new(None);
    EvaluationSettings {
        limit_iterators: args.limit_iterators,
        memory_quota: args.memory_quota,
        now_micros: stoker_yaql::Host::now_micros(&host),
        random_bits: stoker_yaql::Host::random_bits(&host),
        n_threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    }
}

/// Returns the old states as if every task had last succeeded with this state of the cluster.
fn old_states(cluster: &Cluster) -> AppliedStates {
    let mut old = AppliedStates::default();
    let state = |node| EffectiveState { common: cluster.common.clone(), node };
    for (uid, own) in &cluster.nodes {
        old.set_node(uid, state(own.clone()), None);
    }
    old.set_node(stoker_state::MASTER, state(master_document()), None);
    old.set_node(stoker_state::SYNC, state(stoker_state::Document::default()), None);
    old
}
