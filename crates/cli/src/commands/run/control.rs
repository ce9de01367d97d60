//! Telling a run what to do.

use serde_json::{Value as Json, json};
use stoker_client::{Method, Request};

use super::follow::started;
use crate::exit::Outcome;
use crate::remote::{Format, Remote};

/// Stop a run: what has begun is finished, nothing else begins
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run stop 7
  stoker run stop 7 --now")]
pub(super) struct StopArgs {
    /// Id of the run
    #[arg(value_name = "RUN")]
    run: i64,

    /// End what has begun, too
    #[arg(long)]
    now: bool,
}

/// Begin nothing more until the run is resumed; what has begun goes on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run pause 7")]
pub(super) struct PauseArgs {
    /// Id of the run
    #[arg(value_name = "RUN")]
    run: i64,
}

/// Go on with a run that was paused
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run resume 7")]
pub(super) struct ResumeArgs {
    /// Id of the run
    #[arg(value_name = "RUN")]
    run: i64,
}

/// Do again what did not succeed in a run that has ended, with the plan it had
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run retry 7
  stoker run retry 7 --follow
  stoker run retry 7 --from install-database --from configure/2,3")]
pub(super) struct RetryArgs {
    /// Id of the run
    #[arg(value_name = "RUN")]
    run: i64,

    /// Do this task again and everything that comes after it, whatever became of it; can be given several times
    #[arg(long, value_name = "TASK[/NODES]")]
    from: Vec<String>,

    /// Show how it goes until its end
    #[arg(long)]
    follow: bool,
}

/// Delete a run with its history
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run delete 7
  stoker run delete 7 --force")]
pub(super) struct DeleteArgs {
    /// Id of the run
    #[arg(value_name = "RUN")]
    run: i64,

    /// Even while it runs
    #[arg(long)]
    force: bool,
}

pub(super) fn stop(args: &StopArgs, remote: &mut Remote<'_>) -> Outcome {
    let how = if args.now { "now" } else { "graceful" };
    let run = remote.send_json(Method::Post, format!("runs/{}/stop", args.run), &json!({"how": how}))?;
    told(remote, &run, &format!("run {} stops", args.run))
}

pub(super) fn pause(args: &PauseArgs, remote: &mut Remote<'_>) -> Outcome {
    let run = remote.send(&Request::new(Method::Post, format!("runs/{}/pause", args.run)))?;
    told(remote, &run, &format!("run {} pauses; `stoker run resume {}` goes on", args.run, args.run))
}

pub(super) fn resume(args: &ResumeArgs, remote: &mut Remote<'_>) -> Outcome {
    let run = remote.send(&Request::new(Method::Post, format!("runs/{}/resume", args.run)))?;
    told(remote, &run, &format!("run {} goes on", args.run))
}

pub(super) fn retry(args: &RetryArgs, remote: &mut Remote<'_>) -> Outcome {
    let path = format!("runs/{}/retry", args.run);
    let run = if args.from.is_empty() {
        remote.send(&Request::new(Method::Post, path))?
    } else {
        remote.send_json(Method::Post, path, &json!({"from": args.from}))?
    };
    started(remote, &run, args.follow)
}

pub(super) fn delete(args: &DeleteArgs, remote: &mut Remote<'_>) -> Outcome {
    let request = Request::new(Method::Delete, format!("transactions/{}", args.run));
    remote.send(&request.maybe("force", args.force.then_some(1)))?;
    remote.note(&format!("deleted run {}", args.run));
    Ok(())
}

fn told(remote: &mut Remote<'_>, run: &Json, note: &str) -> Outcome {
    if remote.format() == Format::Table {
        remote.note(note);
        return Ok(());
    }
    remote.data(run)
}
