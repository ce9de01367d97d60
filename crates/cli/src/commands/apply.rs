//! `stoker apply`: shows a plan, asks for confirmation, runs it and follows the run.

use serde_json::json;
use stoker_api_types::plans::{ChangesView, PlanSummary};
use stoker_client::Method;
use stoker_diagnostics::Diagnostic;

use super::plan::{DisplayOptions, PlanOptions, Summary, create_plan};
use super::run::{RolloutOptions, report_started};
use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, SharedOptions, confirm, sanitize};

/// Show a plan, ask for confirmation, and run it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Creates a new plan with `--env`, or uses the existing plan PLAN. The server runs exactly the plan that was shown, and
rejects it if its inputs have changed since. Follows the run unless `--detach` is passed, and exits with code 1 if the run
fails, or with code 6 if offline nodes were left out.

Examples:
  stoker apply --env 1
  stoker apply --env 1 --type upgrade --only-nodes 1,2 --yes
  stoker apply 5
  stoker apply --env 1 --yes --detach")]
pub(crate) struct Args {
    /// ID of an existing plan to run
    #[arg(value_name = "PLAN", conflicts_with_all = ["env", "graph_type", "only_tasks", "only_nodes", "force", "ignore_limits", "refresh"])]
    plan: Option<i64>,

    /// Cluster ID; creates a new plan for this cluster
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: Option<i64>,

    #[command(flatten)]
    plan_options: PlanOptions,

    #[command(flatten)]
    display: DisplayOptions,

    #[command(flatten)]
    rollout: RolloutOptions,

    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,

    /// Return immediately after the run starts
    #[arg(long)]
    detach: bool,

    #[command(flatten)]
    options: SharedOptions,
}

/// An existing plan, or a cluster to create a plan for.
enum ApplyTarget {
    Plan(i64),
    Cluster(i64),
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let target =
        args.plan.map(ApplyTarget::Plan).or_else(|| args.env.map(ApplyTarget::Cluster)).ok_or_else(|| {
            let help = "pass `--env ID` to plan a cluster, or the ID of an existing plan";
            Failure::usage("nothing to apply", help)
        })?;
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    let remote = &mut remote;
    let plan = match target {
        ApplyTarget::Plan(plan) => {
            reject_stale(remote, plan)?;
            plan
        }
        ApplyTarget::Cluster(env) => create_plan(remote, env, &args.plan_options)?,
    };
    // With a data format, standard output contains only the run.
    let summary = Summary::read(remote, plan)?;
    if remote.format() == Format::Table && !remote.is_quiet() {
        summary.print(remote, args.display)?;
    }
    if !summary.has_changes() {
        return report_no_changes(remote, &summary);
    }
    confirm("Apply this plan?", args.yes)?;
    let body = args.rollout.apply_to(json!({}));
    let run = remote.send_json(Method::Post, format!("plans/{plan}/apply"), &body)?;
    report_started(remote, &run, !args.detach)
}

/// Reports that the plan has nothing to run. Whether offline nodes match their configuration is unknown: the exit code
/// is that of a run that leaves them out.
fn report_no_changes(remote: &mut Remote<'_>, summary: &Summary) -> Outcome {
    let coverage = summary.coverage();
    if remote.format() != Format::Table {
        let message = coverage.no_changes();
        remote.data(&json!({"id": null, "plan_id": summary.plan.plan.id, "message": message}))?;
    }
    if coverage.n_offline == 0 {
        return Ok(());
    }
    let help = "when the nodes are online, run the command again to include them";
    Err(Failure::new(Exit::Partial, Diagnostic::plain("offline nodes were left out").help(help)))
}

/// Reports all changes before the confirmation; the server would reject a stale plan afterwards.
fn reject_stale(remote: &mut Remote<'_>, plan: i64) -> Outcome {
    let ChangesView { is_current, changes } = remote.read(format!("plans/{plan}/changes"))?;
    if is_current {
        return Ok(());
    }
    let mut failure =
        Failure::failed(format!("cannot apply plan {plan}: its inputs have changed since it was created"));
    let env = remote.read::<PlanSummary>(format!("plans/{plan}"))?.plan.cluster;
    failure.diagnostics[0].notes =
        changes.iter().map(|change| format!("changed: {}", sanitize(change)).into()).collect();
    failure.diagnostics[0].help = Some(format!("run `stoker plan --env {env}` to create a new plan"));
    Err(failure)
}
