//! Plans that are created and stored by the server.

use serde_json::{Value as Json, json};
use stoker_api_types::matrix::MatrixView;
use stoker_api_types::plans::{InputChangeView, InstanceView, PlanSummary, PlanView, WarningView};
use stoker_client::{ClientError, Method, RestRequest};
use stoker_diagnostics::{Diagnostic, ProblemOrigin, Severity};

use super::display::{Coverage, DetailLevel, DisplayOptions, ExitOptions};
use super::{Format, text};
use crate::commands::drift;
use crate::commands::graph::{Reported, summarize};
use crate::exit::{Failure, Outcome};
use crate::host::SystemHost;
use crate::remote::{self, Remote, sanitize, set, typed};

/// Options that select what is planned.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanOptions {
    /// Graph type [default: default]
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type)]
    graph_type: Option<String>,

    /// Task to plan; can be repeated or comma-separated [default: all tasks]
    #[arg(long, value_name = "TASK", value_delimiter = ',', visible_alias = "task")]
    pub(super) only_tasks: Option<Vec<String>>,

    /// UID of a node to plan; can be repeated or comma-separated [default: all nodes]
    #[arg(long, value_name = "UID", value_delimiter = ',', visible_alias = "node")]
    pub(super) only_nodes: Option<Vec<String>>,

    /// Plan all tasks, even if they already succeeded with the same input
    #[arg(long)]
    pub(super) force: bool,

    /// Plan although roles have fewer nodes than their minimum, which is then a warning
    #[arg(long)]
    ignore_limits: bool,

    /// Compare the nodes with the applied state first, and plan the repair of what drifted
    #[arg(long)]
    refresh: bool,
}

/// Create a plan without running it, and show it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plan make --env 1
  stoker plan make --env 1 --type upgrade --output json")]
pub(super) struct MakeArgs {
    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: i64,

    /// Graph type [default: default]
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type)]
    graph_type: Option<String>,

    /// Task to plan; can be repeated or comma-separated [default: all tasks]
    #[arg(long = "task", value_name = "TASK", value_delimiter = ',', visible_alias = "only-tasks")]
    tasks: Option<Vec<String>>,

    /// ID of a node to plan; can be repeated or comma-separated [default: all nodes]
    #[arg(long = "node", short, value_name = "ID", value_delimiter = ',', visible_alias = "only-nodes")]
    nodes: Option<Vec<String>>,

    /// Plan all tasks, even if they already succeeded with the same input
    #[arg(long)]
    force: bool,

    /// Plan although roles have fewer nodes than their minimum, which is then a warning
    #[arg(long)]
    ignore_limits: bool,

    #[command(flatten)]
    display: DisplayOptions,

    #[command(flatten)]
    exit: ExitOptions,

    /// Output format: `table`, `json` or `yaml` [default: table]
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    pub(super) output: Option<remote::Format>,
}

/// Show a plan: which tasks run on which nodes, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plan show 5
  stoker plan show 5 --all --by-node
  stoker plan show 5 --output json")]
pub(super) struct ShowArgs {
    /// Plan ID
    #[arg(value_name = "PLAN")]
    plan: i64,

    #[command(flatten)]
    display: DisplayOptions,

    /// Output format: `table`, `json` or `yaml` [default: table]
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    pub(super) output: Option<remote::Format>,
}

/// List the plans of a cluster, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plan list --env 1")]
pub(super) struct ListArgs {
    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: i64,

    /// Output format: `table`, `json` or `yaml` [default: table]
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    pub(super) output: Option<remote::Format>,
}

/// Compare two plans
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plan compare 5 6
  stoker plan compare 5 6 --output json")]
pub(super) struct CompareArgs {
    /// ID of the old plan
    #[arg(value_name = "BEFORE")]
    before: i64,

    /// ID of the new plan
    #[arg(value_name = "AFTER")]
    after: i64,

    /// Output format: `table`, `json` or `yaml` [default: table]
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    pub(super) output: Option<remote::Format>,
}

/// Delete a plan
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plan delete 5")]
pub(super) struct DeleteArgs {
    /// Plan ID
    #[arg(value_name = "PLAN")]
    plan: i64,
}

/// Creates a plan on the server and returns its ID.
pub(crate) fn create_plan(remote: &mut Remote<'_>, env: i64, options: &PlanOptions) -> Outcome<i64> {
    let (tasks, nodes) = (options.only_tasks.as_ref(), options.only_nodes.as_ref());
    let mut body = plan_body(options.force, options.ignore_limits);
    if options.refresh {
        set(&mut body, "refresh", true);
    }
    let plan = send_plan_request(remote, env, body, options.graph_type.as_ref(), tasks, nodes)?;
    if options.refresh && remote.format() == remote::Format::Table && !remote.is_quiet() {
        let scope = drift::Scope { graph_type: options.graph_type.as_deref(), tasks, nodes };
        drift::print(remote, env, &scope)?;
    }
    Ok(plan)
}

/// Returns the body of a request for a plan, without its scope.
fn plan_body(force: bool, ignore_limits: bool) -> Json {
    let mut body = json!({"force": force});
    if ignore_limits {
        set(&mut body, "ignore_limits", true);
    }
    body
}

fn send_plan_request(
    remote: &mut Remote<'_>,
    env: i64,
    mut body: Json,
    graph_type: Option<&String>,
    tasks: Option<&Vec<String>>,
    nodes: Option<&Vec<String>>,
) -> Outcome<i64> {
    if let Some(graph_type) = graph_type {
        set(&mut body, "graph_type", graph_type);
    }
    if let Some(tasks) = tasks {
        set(&mut body, "tasks", tasks);
    }
    if let Some(nodes) = nodes {
        let id = |node: &String| {
            let help = "run `stoker node list` to see the IDs of nodes";
            node.parse().map_err(|_| Failure::usage(format!("invalid node ID `{node}`"), help))
        };
        let ids: Vec<i64> = nodes.iter().map(id).collect::<Outcome<_>>()?;
        set(&mut body, "nodes", ids);
    }
    let plan = remote.send_json(Method::Post, format!("clusters/{env}/plans"), &body)?;
    Ok(typed::<PlanView>(&plan)?.id)
}

/// Creates a plan and prints it: `stoker plan --env ID`.
pub(super) fn create_and_print(args: &super::PlanArgs, env: i64, remote: &mut Remote<'_>) -> Outcome {
    let format = args.output.unwrap_or(Format::Text);
    args.diagram.check(format)?;
    let plan = create_plan(remote, env, &args.options)?;
    let summary = Summary::read(remote, plan)?;
    let printed = match format {
        Format::Text | Format::Json | Format::Yaml => summary.print(remote, args.display()),
        Format::Dot | Format::Svg | Format::Mermaid => {
            let request = args.diagram.add_query(RestRequest::get(format!("plans/{plan}/picture")), format);
            let response = remote.try_send(&request.accept("*/*"));
            let response = response.map_err(|error| remote::failure(error, None))?;
            remote.printer.data(&response.text()).map_err(Failure::from)
        }
    };
    summary.finish(printed, args.exit)
}

pub(super) fn run_make(args: &MakeArgs, remote: &mut Remote<'_>) -> Outcome {
    let (tasks, nodes) = (args.tasks.as_ref(), args.nodes.as_ref());
    let body = plan_body(args.force, args.ignore_limits);
    let plan = send_plan_request(remote, args.env, body, args.graph_type.as_ref(), tasks, nodes)?;
    let summary = Summary::read(remote, plan)?;
    let printed = summary.print(remote, args.display);
    summary.finish(printed, args.exit)
}

pub(super) fn show(args: &ShowArgs, remote: &mut Remote<'_>) -> Outcome {
    Summary::read(remote, args.plan)?.print(remote, args.display)
}

/// A plan as the server summarizes it.
pub(crate) struct Summary {
    pub(crate) plan: PlanSummary,
    response: Json,
}

impl Summary {
    pub(crate) fn read(remote: &mut Remote<'_>, id: i64) -> Outcome<Self> {
        let response = remote.get(format!("plans/{id}"))?;
        Ok(Self { plan: typed(&response)?, response })
    }

    /// Reports whether applying the plan changes anything; the removal of a node is a change.
    pub(crate) fn has_changes(&self) -> bool {
        text::has_changes(&self.plan.plan)
    }

    pub(crate) fn coverage(&self) -> Coverage {
        text::coverage(&self.plan, now())
    }

    pub(crate) fn print(&self, remote: &mut Remote<'_>, display: DisplayOptions) -> Outcome {
        let id = self.plan.plan.id;
        if remote.format() != remote::Format::Table {
            let mut response = self.response.clone();
            set(&mut response, "instances", instances(remote, id, None)?);
            set(&mut response, "differences", pages(remote, &format!("plans/{id}/differences"), None)?);
            return remote.data(&response);
        }
        if remote.is_quiet() {
            return Ok(remote.printer.data(&id.to_string())?);
        }
        let body = self.body(remote, display)?;
        let blank_line = if body.is_empty() { "" } else { "\n" };
        remote.printer.page(&format!("{body}{blank_line}{}", text::summary(&self.plan, now())))?;
        let reported = self.plan.warnings.iter().map(reported).collect();
        for warning in summarize(reported, remote.is_verbose()) {
            remote.printer.diagnostic(&warning);
        }
        for note in &self.plan.notes {
            remote.printer.diagnostic(&diagnostic(note).severity(Severity::Note));
        }
        Ok(())
    }

    /// Lists task instances, as far as the level of detail includes them.
    fn body(&self, remote: &mut Remote<'_>, display: DisplayOptions) -> Outcome<String> {
        let id = self.plan.plan.id;
        let level = display.level();
        let action = match (level, display.by_node) {
            (DetailLevel::Summary, _) => return Ok(String::new()),
            (DetailLevel::Changes, true) => Some("run"),
            (DetailLevel::All, true) => None,
            (_, false) => Some("skip"),
        };
        let needs_instances = display.by_node || level == DetailLevel::All;
        let instances = if needs_instances { instances(remote, id, action)? } else { Vec::new() };
        let instances = instances.iter().map(typed).collect::<Outcome<Vec<InstanceView>>>()?;
        if display.by_node {
            return Ok(text::by_node(&instances, &tasks_in_order(remote, id)?));
        }
        let changes = pages(remote, &format!("plans/{id}/differences"), None)?;
        let changes = changes.iter().map(typed).collect::<Outcome<Vec<InputChangeView>>>()?;
        Ok(text::changes(&changes, &instances))
    }

    /// Returns the result of a command that prints the plan.
    fn finish(&self, printed: Outcome, exit: ExitOptions) -> Outcome {
        let n_offline = self.plan.excluded.iter().filter(|excluded| excluded.offline).count();
        exit.finish(printed, self.plan.warnings.len() + n_offline, self.has_changes())
    }
}

/// Current Unix time in seconds.
fn now() -> f64 {
    stoker_yaql::Host::now_micros(&SystemHost::new(None)) as f64 / 1e6
}

fn reported(warning: &WarningView) -> Reported {
    Reported {
        diagnostic: diagnostic(warning),
        summary: sanitize(&warning.message),
        task: warning.task.as_deref().map(sanitize),
    }
}

fn diagnostic(warning: &WarningView) -> Diagnostic {
    let task = warning.task.as_deref().map(|task| format!("task `{task}`: ")).unwrap_or_default();
    let message = format!("{task}{}", sanitize(&warning.message));
    let (layer, file) = (warning.layer.clone(), warning.file.clone());
    let provenance = ProblemOrigin { layer, file, line: warning.line };
    let diagnostic = Diagnostic::warning(sanitize(&warning.code), message).help_if(warning.help.clone());
    diagnostic.provenance(Some(provenance))
}

/// Returns the task names of a plan in execution order. The API lists instances by name.
fn tasks_in_order(remote: &mut Remote<'_>, plan: i64) -> Outcome<Vec<String>> {
    let mut items: Vec<String> = Vec::new();
    loop {
        let request = RestRequest::get(format!("plans/{plan}/matrix"))
            .query("task_limit", TASKS_PAGE_SIZE)
            .query("task_offset", items.len())
            .query("node_limit", 1);
        let window: MatrixView = typed(&remote.send(&request)?)?;
        let n_before = items.len();
        items.extend(window.tasks);
        if items.len() == n_before || items.len() as u64 >= window.n_tasks {
            return Ok(items);
        }
    }
}

const TASKS_PAGE_SIZE: usize = 2000;
const PAGE_SIZE: usize = 10_000;

fn instances(remote: &mut Remote<'_>, plan: i64, action: Option<&str>) -> Outcome<Vec<Json>> {
    pages(remote, &format!("plans/{plan}/instances"), action)
}

/// Reads all pages of a list.
fn pages(remote: &mut Remote<'_>, path: &str, action: Option<&str>) -> Outcome<Vec<Json>> {
    let mut items = Vec::new();
    loop {
        let request = RestRequest::get(path)
            .query("limit", PAGE_SIZE)
            .query("offset", items.len())
            .query_opt("action", action);
        let page = match remote.try_send(&request).and_then(|response| response.json()) {
            Ok(Json::Array(page)) => page,
            // An offset at the end of the list is rejected with 416.
            Err(ClientError::Rejected(refusal)) if refusal.status == 416 => break,
            Ok(_) => break,
            Err(error) => return Err(remote::failure(error, None)),
        };
        let is_last = page.len() < PAGE_SIZE;
        items.extend(page);
        if is_last {
            break;
        }
    }
    Ok(items)
}

pub(super) fn list(args: &ListArgs, remote: &mut Remote<'_>) -> Outcome {
    let request = RestRequest::get(format!("clusters/{}/plans", args.env)).query("order_by", "-id");
    let plans = remote.get_list(&request)?;
    remote.list(
        &[
            ("id", "id"),
            ("graph", "graph_type"),
            ("to run", "n_run"),
            ("to skip", "n_skip"),
            ("created", "created_at"),
            ("created by", "created_by"),
        ],
        plans,
    )
}

pub(super) fn compare(args: &CompareArgs, remote: &mut Remote<'_>) -> Outcome {
    let difference = remote.get(format!("plans/{}/compare/{}", args.before, args.after))?;
    match remote.format() {
        remote::Format::Table => Ok(remote.printer.page(&text::comparison(&typed(&difference)?))?),
        _ => remote.data(&difference),
    }
}

pub(super) fn delete(args: &DeleteArgs, remote: &mut Remote<'_>) -> Outcome {
    remote.delete(format!("plans/{}", args.plan))?;
    remote.note(&format!("deleted plan {}", args.plan));
    Ok(())
}
