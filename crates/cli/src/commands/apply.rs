//! `stoker apply`: tells what will be done, asks, does it, and shows how it goes.

use serde_json::json;
use stoker_client::Method;

use super::plan::{Looks, Wish, make, tell};
use super::run::{Pace, started};
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, Shared, cell, confirm};

/// Plan, ask, and run the plan
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What was shown is what runs: the server refuses the plan if anything it was made from has changed since. Without
`--yes` nothing is run before you have seen the plan and said yes. The exit code is 1 if the run fails.

Examples:
  stoker apply --env 1
  stoker apply --env 1 --type upgrade --only-nodes 1,2 --yes
  stoker apply 5
  stoker apply --env 1 --yes --detach")]
pub(crate) struct Args {
    /// A plan that was made before
    #[arg(value_name = "PLAN", conflicts_with_all = ["env", "graph_type", "only_tasks", "only_nodes", "force"])]
    plan: Option<i64>,

    /// Plan for this cluster
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: Option<i64>,

    #[command(flatten)]
    wish: Wish,

    #[command(flatten)]
    looks: Looks,

    #[command(flatten)]
    pace: Pace,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Do not wait for the end of the run
    #[arg(long)]
    detach: bool,

    #[command(flatten)]
    options: Shared,
}

/// By id: a plan that is there, or a cluster that one is made for.
enum Wanted {
    Plan(i64),
    Cluster(i64),
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let wanted = args.plan.map(Wanted::Plan).or_else(|| args.env.map(Wanted::Cluster)).ok_or_else(|| {
        let help = "add `--env ID` to plan for a cluster, or the id of a plan; `--help` shows examples";
        Failure::usage("what is to be applied?", help)
    })?;
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    let remote = &mut remote;
    let plan = match wanted {
        Wanted::Plan(plan) => {
            refuse_stale(remote, plan)?;
            plan
        }
        Wanted::Cluster(env) => make(remote, env, &args.wish)?,
    };
    // Whoever wants data wants that of the run.
    let n_run = if remote.format() == Format::Table && !remote.is_quiet() {
        tell(remote, plan, args.looks)?
    } else {
        remote.get(format!("plans/{plan}"))?["n_run"].as_i64().unwrap_or_default()
    };
    if n_run == 0 {
        remote.note(NOTHING);
        if remote.format() != Format::Table {
            return remote.data(&json!({"id": null, "plan_id": plan, "message": NOTHING}));
        }
        return Ok(());
    }
    confirm("Run this plan?", args.yes)?;
    let body = args.pace.over(json!({}));
    let run = remote.send_json(Method::Post, format!("plans/{plan}/apply"), &body)?;
    started(remote, &run, !args.detach)
}

/// Said in place of a run.
const NOTHING: &str = "there is nothing to be done";

/// Tells early, and in full, what the server would refuse after the question.
fn refuse_stale(remote: &mut Remote<'_>, plan: i64) -> Outcome {
    let changes = remote.get(format!("plans/{plan}/changes"))?;
    if changes["is_current"] != false {
        return Ok(());
    }
    let mut failure = Failure::failed(format!("plan {plan} is out of date"));
    let told = changes["changes"].as_array().into_iter().flatten();
    failure.diagnostics[0].notes = told.map(|change| format!("changed since: {}", cell(change))).collect();
    failure.diagnostics[0].help = Some("make a new one with `stoker plan --env ID`".to_owned());
    Err(failure)
}
