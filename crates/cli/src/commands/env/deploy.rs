use serde_json::json;
use stoker_client::{Body, Method, Request};

use super::EnvArg;
use crate::commands::run::started;
use crate::exit::Outcome;
use crate::remote::{Format, Remote, cell, confirm};

/// Deploy what changed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Runs the sequence `deploy-changes` of the release if there is one, else the graph `default`. `stoker plan --env 1` tells
beforehand what will be done and why; `stoker apply --env 1` tells, asks and does it.

Examples:
  stoker env deploy 1 --follow
  stoker env deploy 1 --dry-run")]
pub(super) struct DeployArgs {
    #[command(flatten)]
    env: EnvArg,

    #[command(flatten)]
    how: How,
}

/// Deploy everything anew
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env redeploy 1 --follow")]
pub(super) struct RedeployArgs {
    #[command(flatten)]
    env: EnvArg,

    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct How {
    /// Plan, and run nothing
    #[arg(long)]
    dry_run: bool,

    /// Let tasks say what they would do, and touch nothing
    #[arg(long)]
    noop: bool,

    /// Show how it goes until its end
    #[arg(long)]
    follow: bool,
}

/// Stop what runs on a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What has begun is finished, or with `--now` ended.

Examples:
  stoker env stop 1
  stoker env stop 1 --now")]
pub(super) struct StopArgs {
    #[command(flatten)]
    env: EnvArg,

    /// End what has begun, too
    #[arg(long)]
    now: bool,
}

/// Forget what was done: the next run does everything again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env reset 1
  stoker env reset 1 --yes")]
pub(super) struct ResetArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn deploy(args: &DeployArgs, remote: &mut Remote<'_>) -> Outcome {
    start(&format!("clusters/{}/changes", args.env.id()), &args.how, remote)
}

pub(super) fn redeploy(args: &RedeployArgs, remote: &mut Remote<'_>) -> Outcome {
    start(&format!("clusters/{}/changes/redeploy", args.env.id()), &args.how, remote)
}

fn start(path: &str, how: &How, remote: &mut Remote<'_>) -> Outcome {
    let nothing = json!({});
    let request = Request::new(Method::Put, path)
        .body(Body::Json(&nothing))
        .maybe("dry_run", how.dry_run.then_some(1))
        .maybe("noop_run", how.noop.then_some(1));
    let run = remote.send(&request)?;
    started(remote, &run, how.follow)
}

pub(super) fn stop(args: &StopArgs, remote: &mut Remote<'_>) -> Outcome {
    let id = args.env.id();
    let nothing = json!({});
    let request = Request::new(Method::Put, format!("clusters/{id}/stop_deployment"));
    let run = remote.send(&request.body(Body::Json(&nothing)).maybe("now", args.now.then_some(1)))?;
    if remote.format() != Format::Table {
        return remote.data(&run);
    }
    remote.note(&format!("what runs on cluster {id} stops"));
    Ok(())
}

pub(super) fn reset(args: &ResetArgs, remote: &mut Remote<'_>) -> Outcome {
    let id = args.env.id();
    confirm(&format!("Forget everything that was done on cluster {id}?"), args.yes)?;
    let run = remote.send_json(Method::Put, format!("clusters/{id}/reset"), &json!({}))?;
    if remote.format() != Format::Table {
        return remote.data(&run);
    }
    remote.note(&crate::text::one_line(&cell(&run["message"])));
    Ok(())
}
