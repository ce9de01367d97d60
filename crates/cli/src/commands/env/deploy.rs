use serde_json::json;
use stoker_client::{Body, Method, RestRequest};

use super::EnvArg;
use crate::commands::run::report_started;
use crate::exit::Outcome;
use crate::remote::{Format, Remote, confirm};

/// Deploy the pending changes of a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Runs the sequence `deploy-changes` of the release if it exists, otherwise the graph `default`. To preview the changes,
run `stoker plan --env 1`, which starts no run; to preview, confirm and deploy, run `stoker apply --env 1`.

Examples:
  stoker env deploy 1 --follow
  stoker env deploy 1 --dry-run")]
pub(super) struct DeployArgs {
    #[command(flatten)]
    env: EnvArg,

    #[command(flatten)]
    options: DeployOptions,
}

/// Run all deployment tasks of a cluster again, even without changes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env redeploy 1 --follow")]
pub(super) struct RedeployArgs {
    #[command(flatten)]
    env: EnvArg,

    #[command(flatten)]
    options: DeployOptions,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is an independent option")]
struct DeployOptions {
    /// Start a dry run, which ends with its plan and executes no task
    #[arg(long)]
    dry_run: bool,

    /// Run tasks in no-op mode: they report what they would change and change nothing
    #[arg(long)]
    noop: bool,

    /// Deploy although roles have fewer nodes than their minimum, which is then a warning
    #[arg(long)]
    ignore_limits: bool,

    /// Show progress until the run ends, and fail if it fails [default: return when the run has started]
    #[arg(long)]
    follow: bool,
}

/// Stop the active run of a cluster: running tasks finish, no further tasks start
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env stop 1
  stoker env stop 1 --now")]
pub(super) struct StopArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Terminate running tasks instead of waiting for them
    #[arg(long)]
    now: bool,
}

/// Reset the deployment state of a cluster, so that the next run executes all tasks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env reset 1
  stoker env reset 1 --yes")]
pub(super) struct ResetArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn deploy(args: &DeployArgs, remote: &mut Remote<'_>) -> Outcome {
    start(&format!("clusters/{}/changes", args.env.id()), &args.options, remote)
}

pub(super) fn redeploy(args: &RedeployArgs, remote: &mut Remote<'_>) -> Outcome {
    start(&format!("clusters/{}/changes/redeploy", args.env.id()), &args.options, remote)
}

fn start(path: &str, options: &DeployOptions, remote: &mut Remote<'_>) -> Outcome {
    let empty = json!({});
    let request = RestRequest::new(Method::Put, path)
        .body(Body::Json(&empty))
        .query_opt("dry_run", options.dry_run.then_some(1))
        .query_opt("noop_run", options.noop.then_some(1))
        .query_opt("ignore_limits", options.ignore_limits.then_some(1));
    let run = remote.send(&request)?;
    report_started(remote, &run, options.follow)
}

pub(super) fn stop(args: &StopArgs, remote: &mut Remote<'_>) -> Outcome {
    let id = args.env.id();
    let empty = json!({});
    let request = RestRequest::new(Method::Put, format!("clusters/{id}/stop_deployment"));
    let run = remote.send(&request.body(Body::Json(&empty)).query_opt("now", args.now.then_some(1)))?;
    if remote.format() != Format::Table {
        return remote.data(&run);
    }
    remote.note(&format!("stopping the run on cluster {id}"));
    Ok(())
}

pub(super) fn reset(args: &ResetArgs, remote: &mut Remote<'_>) -> Outcome {
    let id = args.env.id();
    confirm(
        &format!("Reset the deployment state of cluster {id}? The next run executes all tasks again."),
        args.yes,
    )?;
    let run = remote.send_json(Method::Put, format!("clusters/{id}/reset"), &json!({}))?;
    if remote.format() != Format::Table {
        return remote.data(&run);
    }
    remote.note(&format!("reset the deployment state of cluster {id}"));
    Ok(())
}
