//! A program from its start to its end, which is the end of its whole group where it has to be.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use stoker_engine::session::Stream;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command as Starter};

use super::super::{Command, Exit, HostError, Program, Status, StopReason};
use super::family::{Family, MARK, ProcessId, Ticks, end_family};
use super::pump::pump;
use super::{RealHost, blocking, scratch};

/// After its end, what it left running may still hold its output open; this long is it listened to.
const DRAIN: Duration = Duration::from_millis(500);

pub(super) async fn run(host: &RealHost, mut command: Command) -> Result<Exit, HostError> {
    host.check_stop()?;
    let folder = scratch::make(&host.machine.scratch, &host.machine.shell, &mut command)?;
    forget_tails(host);
    let from = Ticks::now();
    let mut child = start(host, &command)?;
    let leader = child.id().and_then(|pid| ProcessId::started_between(pid as i32, from, Ticks::now()));
    if let Some(leader) = leader {
        host.memory.started(leader);
    }
    let ended = tokio::select! {
        status = until_end(host, &mut child, command.stdin.take()) => Ok(status),
        reason = host.stop.wait() => Err(reason),
    };
    let status = match ended {
        Ok(status) => {
            status.map_err(|error| HostError::Other(format!("cannot wait for its end: {error}")))?
        }
        Err(reason) => return Err(end(host, child, leader, reason).await),
    };
    let status = told(status);
    host.memory.ended(status);
    host.report.flush();
    let collected = match folder {
        Some(folder) => blocking(move || Ok(scratch::collect(folder.path(), &command.collect))).await?,
        None => std::collections::BTreeMap::new(),
    };
    Ok(Exit {
        status,
        stdout_tail: host.report.take_tail(Stream::Out),
        stderr_tail: host.report.take_tail(Stream::Err),
        collected,
    })
}

/// What was said before is not what this program printed.
fn forget_tails(host: &RealHost) {
    host.report.flush();
    for stream in [Stream::Out, Stream::Err] {
        host.report.take_tail(stream);
    }
}

fn start(host: &RealHost, command: &Command) -> Result<Child, HostError> {
    let (program, mut starter) = match &command.program {
        Program::Argv(words) => {
            let (program, arguments) =
                words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
            let mut starter = Starter::new(program);
            starter.args(arguments);
            (program.to_owned(), starter)
        }
        Program::Script(text) => {
            let mut starter = Starter::new(&host.machine.shell);
            starter.arg("-c").arg(text);
            (host.machine.shell.display().to_string(), starter)
        }
    };
    for name in &host.machine.hidden_env {
        starter.env_remove(name);
    }
    starter
        .envs(&command.env)
        .env(MARK, &host.mark)
        .envs(host.trace.as_ref().map(|trace| ("TRACEPARENT", trace)))
        .current_dir(&command.cwd)
        .process_group(0)
        .stdin(if command.stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    starter.spawn().map_err(|error| {
        let is_folder =
            error.kind() == std::io::ErrorKind::NotFound && !std::path::Path::new(&command.cwd).is_dir();
        let reason =
            if is_folder { format!("there is no folder `{}`", command.cwd) } else { error.to_string() };
        HostError::NotStarted { program, reason }
    })
}

/// Feeds it, listens to it and waits for its end. What it left behind does not keep it from ending.
async fn until_end(
    host: &RealHost,
    child: &mut Child,
    input: Option<Vec<u8>>,
) -> std::io::Result<ExitStatus> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A program that does not read its input is not to blame.
            _ = stdin.write_all(&input).await;
        }
    };
    let listen = async {
        tokio::join!(feed, pump(stdout, Stream::Out, &host.report), pump(stderr, Stream::Err, &host.report));
    };
    let mut listen = std::pin::pin!(listen);
    tokio::select! {
        () = &mut listen => child.wait().await,
        status = child.wait() => {
            _ = tokio::time::timeout(DRAIN, listen).await;
            status
        }
    }
}

/// Ends everything of the attempt, and says so.
async fn end(host: &RealHost, mut child: Child, leader: Option<ProcessId>, reason: StopReason) -> HostError {
    let family = Family { leaders: leader.into_iter().collect(), mark: host.mark.clone() };
    let ending = end_family(family, host.machine.grace);
    // Somebody has to take note of the death of the leader, or it stays as a zombie.
    let (n_left, _) = tokio::join!(ending, child.wait());
    host.report.flush();
    if n_left > 0 {
        host.report.line(&format!("{n_left} processes could not be ended; the kernel holds them"));
    }
    HostError::Stopped(reason)
}

fn told(status: ExitStatus) -> Status {
    status.code().map_or_else(|| Status::Signal(status.signal().unwrap_or_default()), Status::Code)
}
