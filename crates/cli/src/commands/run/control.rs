//! Verbs that control a run: stop, pause, resume, retry, delete.

use serde_json::{Value as Json, json};
use stoker_client::{Method, RestRequest};

use super::follow::report_started;
use crate::exit::Outcome;
use crate::remote::{Format, Remote};

/// Stop a run: running tasks finish, no further tasks start
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run stop 7
  stoker run stop 7 --now")]
pub(super) struct StopArgs {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,

    /// Terminate running tasks instead of waiting for them
    #[arg(long)]
    now: bool,
}

/// Pause a run: running tasks finish, no further tasks start until it is resumed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run pause 7")]
pub(super) struct PauseArgs {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,
}

/// Resume a paused run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run resume 7")]
pub(super) struct ResumeArgs {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,
}

/// Run the failed and unfinished tasks of a finished run again, with the same plan
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run retry 7
  stoker run retry 7 --follow
  stoker run retry 7 --from install-database --from configure/2,3")]
pub(super) struct RetryArgs {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,

    /// Rerun this task, on all nodes or on those with these comma-separated IDs, and all tasks that depend on it, even if they succeeded; can be repeated
    #[arg(long, value_name = "TASK[/NODES]")]
    from: Vec<String>,

    /// Show progress until the run ends, and fail if it fails [default: return when the run has started]
    #[arg(long)]
    follow: bool,
}

/// Delete a run and its history
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run delete 7
  stoker run delete 7 --force")]
pub(super) struct DeleteArgs {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,

    /// Delete the run even while it is active
    #[arg(long)]
    force: bool,
}

pub(super) fn stop(args: &StopArgs, remote: &mut Remote<'_>) -> Outcome {
    let mode = if args.now { "now" } else { "graceful" };
    let run = remote.send_json(Method::Post, format!("runs/{}/stop", args.run), &json!({"how": mode}))?;
    report(remote, &run, &format!("stopping run {}", args.run))
}

pub(super) fn pause(args: &PauseArgs, remote: &mut Remote<'_>) -> Outcome {
    let run = remote.send(&RestRequest::new(Method::Post, format!("runs/{}/pause", args.run)))?;
    report(
        remote,
        &run,
        &format!("pausing run {}; resume it with `stoker run resume {}`", args.run, args.run),
    )
}

pub(super) fn resume(args: &ResumeArgs, remote: &mut Remote<'_>) -> Outcome {
    let run = remote.send(&RestRequest::new(Method::Post, format!("runs/{}/resume", args.run)))?;
    report(remote, &run, &format!("resumed run {}", args.run))
}

pub(super) fn retry(args: &RetryArgs, remote: &mut Remote<'_>) -> Outcome {
    let path = format!("runs/{}/retry", args.run);
    let run = if args.from.is_empty() {
        remote.send(&RestRequest::new(Method::Post, path))?
    } else {
        remote.send_json(Method::Post, path, &json!({"from": args.from}))?
    };
    report_started(remote, &run, args.follow)
}

pub(super) fn delete(args: &DeleteArgs, remote: &mut Remote<'_>) -> Outcome {
    let request = RestRequest::new(Method::Delete, format!("transactions/{}", args.run));
    remote.send(&request.query_opt("force", args.force.then_some(1)))?;
    remote.note(&format!("deleted run {}", args.run));
    Ok(())
}

fn report(remote: &mut Remote<'_>, run: &Json, note: &str) -> Outcome {
    if remote.format() == Format::Table {
        remote.note(note);
        return Ok(());
    }
    remote.data(run)
}
