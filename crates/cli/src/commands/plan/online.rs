//! Plans that a server makes and keeps.

use serde_json::{Value as Json, json};
use stoker_client::{ClientError, Method, Request};

use super::{Format, text};
use crate::diagnostic::{Diagnostic, Severity};
use crate::exit::{Failure, Outcome};
use crate::remote::{self, Remote, cell, origin};

/// What a plan is wanted for.
#[derive(Debug, clap::Args)]
pub(crate) struct Wish {
    /// Type of the graph; `default` if not given
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type)]
    graph_type: Option<String>,

    /// Run only these tasks
    #[arg(long, value_name = "TASK", value_delimiter = ',', visible_alias = "task")]
    pub(super) only_tasks: Option<Vec<String>>,

    /// Take only these nodes
    #[arg(long, value_name = "UID", value_delimiter = ',', visible_alias = "node")]
    pub(super) only_nodes: Option<Vec<String>>,

    /// Plan as if nothing had ever succeeded
    #[arg(long)]
    pub(super) force: bool,
}

/// Make a plan and tell what it says
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plan make --env 1
  stoker plan make --env 1 --type upgrade --output json")]
pub(super) struct MakeArgs {
    /// For this cluster
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: i64,

    /// Type of the graph
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type)]
    graph_type: Option<String>,

    /// Run only these tasks
    #[arg(long = "task", value_name = "TASK", value_delimiter = ',', visible_alias = "only-tasks")]
    tasks: Option<Vec<String>>,

    /// Take only these nodes
    #[arg(long = "node", short, value_name = "ID", value_delimiter = ',', visible_alias = "only-nodes")]
    nodes: Option<Vec<String>>,

    /// Plan as if nothing had ever succeeded
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    looks: Looks,

    /// How to show it: table, json or yaml
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    pub(super) output: Option<remote::Format>,
}

/// How a plan is told.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Looks {
    /// Tell about what is skipped, too
    #[arg(long)]
    pub(crate) all: bool,

    /// Tell node by node
    #[arg(long)]
    pub(crate) by_node: bool,
}

/// Show a plan: what runs, where, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plan show 5
  stoker plan show 5 --all --by-node
  stoker plan show 5 --output json")]
pub(super) struct ShowArgs {
    /// Id of the plan
    #[arg(value_name = "PLAN")]
    plan: i64,

    #[command(flatten)]
    looks: Looks,

    /// How to show it: table, json or yaml
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    pub(super) output: Option<remote::Format>,
}

/// List the plans of a cluster, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plan list --env 1")]
pub(super) struct ListArgs {
    /// The cluster
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: i64,

    /// How to show them: table, json or yaml
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    pub(super) output: Option<remote::Format>,
}

/// Tell what another plan does differently
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plan compare 5 6
  stoker plan compare 5 6 --output json")]
pub(super) struct CompareArgs {
    /// Id of the plan there was
    #[arg(value_name = "BEFORE")]
    before: i64,

    /// Id of the plan there is now
    #[arg(value_name = "AFTER")]
    after: i64,

    /// How to show it: table, json or yaml
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    pub(super) output: Option<remote::Format>,
}

/// Delete a plan
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plan delete 5")]
pub(super) struct DeleteArgs {
    /// Id of the plan
    #[arg(value_name = "PLAN")]
    plan: i64,
}

/// Has the server make a plan.
pub(crate) fn make(remote: &mut Remote<'_>, env: i64, wish: &Wish) -> Outcome<i64> {
    let (tasks, nodes) = (wish.only_tasks.as_ref(), wish.only_nodes.as_ref());
    create(remote, env, wish.graph_type.as_ref(), tasks, nodes, wish.force)
}

fn create(
    remote: &mut Remote<'_>,
    env: i64,
    graph_type: Option<&String>,
    tasks: Option<&Vec<String>>,
    nodes: Option<&Vec<String>>,
    force: bool,
) -> Outcome<i64> {
    let mut body = json!({"force": force});
    if let Some(graph_type) = graph_type {
        body["graph_type"] = json!(graph_type);
    }
    if let Some(tasks) = tasks {
        body["tasks"] = json!(tasks);
    }
    if let Some(nodes) = nodes {
        let ids: Result<Vec<i64>, _> = nodes.iter().map(|node| node.parse()).collect();
        let ids = ids.map_err(|_| {
            Failure::usage("nodes of a cluster are named by their ids", "`stoker node list` shows them")
        })?;
        body["nodes"] = json!(ids);
    }
    let plan = remote.send_json(Method::Post, format!("clusters/{env}/plans"), &body)?;
    plan["id"].as_i64().ok_or_else(|| Failure::failed("the server made no plan"))
}

/// `stoker plan --env 1`.
pub(super) fn make_and_show(args: &super::MakeArgs, env: i64, remote: &mut Remote<'_>) -> Outcome {
    let format = args.output.unwrap_or(Format::Text);
    args.picture.check(format)?;
    let plan = make(remote, env, &args.wish)?;
    match format {
        Format::Text | Format::Json | Format::Yaml => {
            tell(remote, plan, Looks { all: args.all, by_node: args.by_node }).map(drop)
        }
        Format::Dot | Format::Svg | Format::Mermaid => {
            let request = args.picture.asked(Request::get(format!("plans/{plan}/picture")), format);
            let answer = remote.try_send(&request.accept("*/*"));
            let answer = answer.map_err(|error| remote::failure(error, None))?;
            Ok(remote.printer.data(&answer.text())?)
        }
    }
}

pub(super) fn run_make(args: &MakeArgs, remote: &mut Remote<'_>) -> Outcome {
    let (tasks, nodes) = (args.tasks.as_ref(), args.nodes.as_ref());
    let plan = create(remote, args.env, args.graph_type.as_ref(), tasks, nodes, args.force)?;
    tell(remote, plan, args.looks).map(drop)
}

pub(super) fn show(args: &ShowArgs, remote: &mut Remote<'_>) -> Outcome {
    tell(remote, args.plan, args.looks).map(drop)
}

/// Tells what a plan says; returns how many task instances run.
pub(crate) fn tell(remote: &mut Remote<'_>, id: i64, looks: Looks) -> Outcome<i64> {
    let mut plan = remote.get(format!("plans/{id}"))?;
    let n_run = plan["n_run"].as_i64().unwrap_or_default();
    if remote.format() != remote::Format::Table {
        plan["instances"] = Json::Array(instances(remote, id, None)?);
        remote.data(&plan)?;
        return Ok(n_run);
    }
    if remote.is_quiet() {
        remote.printer.data(&id.to_string())?;
        return Ok(n_run);
    }
    let instances = instances(remote, id, (!looks.all).then_some("run"))?;
    let told = if looks.by_node {
        text::by_node(&instances, &tasks_in_order(remote, id)?)
    } else {
        text::by_task(&instances)
    };
    let blank_line = if told.is_empty() { "" } else { "\n" };
    remote.printer.page(&format!("{told}{blank_line}{}", text::summary(&plan)))?;
    for warning in plan["warnings"].as_array().into_iter().flatten() {
        remote.printer.diagnostic(&diagnostic(warning));
    }
    Ok(n_run)
}

fn diagnostic(warning: &Json) -> Diagnostic {
    let task = warning["task"].as_str().map(|task| format!("task `{task}`: ")).unwrap_or_default();
    let message = format!("{task}{}", cell(&warning["message"]));
    let mut diagnostic = Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) };
    let line = warning["line"].as_u64().and_then(|line| u32::try_from(line).ok());
    diagnostic.notes.extend(origin(warning["layer"].as_str(), warning["file"].as_str(), line));
    diagnostic.code(cell(&warning["code"])).help(warning["help"].as_str().map(str::to_owned))
}

/// Names of the tasks of a plan in the order in which they come up; instances are listed by name.
fn tasks_in_order(remote: &mut Remote<'_>, plan: i64) -> Outcome<Vec<String>> {
    let mut all: Vec<String> = Vec::new();
    loop {
        let request = Request::get(format!("plans/{plan}/matrix"))
            .query("task_limit", TASKS_PAGE)
            .query("task_offset", all.len())
            .query("node_limit", 1);
        let window = remote.send(&request)?;
        let tasks = window["tasks"].as_array().into_iter().flatten();
        let n_before = all.len();
        all.extend(tasks.filter_map(Json::as_str).map(str::to_owned));
        if all.len() == n_before || all.len() as u64 >= window["n_tasks"].as_u64().unwrap_or_default() {
            return Ok(all);
        }
    }
}

const TASKS_PAGE: usize = 2000;
const PAGE: usize = 10_000;

fn instances(remote: &mut Remote<'_>, plan: i64, action: Option<&str>) -> Outcome<Vec<Json>> {
    let mut all = Vec::new();
    loop {
        let request = Request::get(format!("plans/{plan}/instances"))
            .query("limit", PAGE)
            .query("offset", all.len())
            .maybe("action", action);
        let page = match remote.try_send(&request).and_then(|answer| answer.json()) {
            Ok(Json::Array(page)) => page,
            // Beyond the end there is nothing.
            Err(ClientError::Refused(refusal)) if refusal.status == 416 => break,
            Ok(_) => break,
            Err(error) => return Err(remote::failure(error, None)),
        };
        let is_last = page.len() < PAGE;
        all.extend(page);
        if is_last {
            break;
        }
    }
    Ok(all)
}

pub(super) fn list(args: &ListArgs, remote: &mut Remote<'_>) -> Outcome {
    let request = Request::get(format!("clusters/{}/plans", args.env)).query("order_by", "-id");
    let plans = remote.get_list(&request)?;
    remote.list(
        &[
            ("id", "id"),
            ("graph", "graph_type"),
            ("to run", "n_run"),
            ("to skip", "n_skip"),
            ("made", "created_at"),
            ("by", "created_by"),
        ],
        plans,
    )
}

pub(super) fn compare(args: &CompareArgs, remote: &mut Remote<'_>) -> Outcome {
    let compared = remote.get(format!("plans/{}/compare/{}", args.before, args.after))?;
    match remote.format() {
        remote::Format::Table => Ok(remote.printer.page(&text::comparison(&compared))?),
        _ => remote.data(&compared),
    }
}

pub(super) fn delete(args: &DeleteArgs, remote: &mut Remote<'_>) -> Outcome {
    remote.delete(format!("plans/{}", args.plan))?;
    remote.note(&format!("deleted plan {}", args.plan));
    Ok(())
}
