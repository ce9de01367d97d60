//! Execution of one program, and termination of its whole process group on a stop.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use stoker_engine::session::Stream;
use stoker_model::ErrorChain;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command as Starter};

use super::super::{Command, Exit, HostError, Program, QUERY_BYTES_MAX, QueryResult, Status, StopReason};
use super::family::{MARK, ProcessId, ProcessTree, Ticks, terminate_process_tree};
use super::pump::pump;
use super::{LocalHost, blocking, scratch};

/// Maximum time for reading output after the program has exited; processes it left running may hold the pipes
/// open indefinitely.
const DRAIN: Duration = Duration::from_millis(500);

pub(super) async fn run(host: &LocalHost, mut command: Command) -> Result<Exit, HostError> {
    host.check_stop()?;
    let folder = scratch::create(&host.machine.scratch, &host.machine.shell, &mut command)?;
    discard_tails(host);
    let from = Ticks::now();
    let mut child = start(host, &command)?;
    let leader = child.id().and_then(|pid| ProcessId::started_between(pid as i32, from, Ticks::now()));
    if let Some(leader) = leader {
        host.recorder.process_started(leader).await;
    }
    let ended = tokio::select! {
        status = wait_with_output(host, &mut child, command.stdin.take()) => Ok(status),
        reason = host.stop.wait() => Err(reason),
    };
    let status = match ended {
        Ok(status) => {
            status.map_err(|error| HostError::Other(format!("cannot wait for the process: {error}")))?
        }
        Err(reason) => return Err(terminate(host, child, leader, reason).await),
    };
    let status = convert_status(status);
    host.recorder.process_exited(status);
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

/// Runs a read-only program and captures its output.
pub(super) async fn query(host: &LocalHost, command: Command) -> Result<QueryResult, HostError> {
    host.check_stop()?;
    let from = Ticks::now();
    let mut child = start(host, &command)?;
    let leader = child.id().and_then(|pid| ProcessId::started_between(pid as i32, from, Ticks::now()));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let ended = tokio::select! {
        done = async { tokio::join!(capture(stdout), capture(stderr), child.wait()) } => Ok(done),
        reason = host.stop.wait() => Err(reason),
    };
    let (stdout, stderr, status) = match ended {
        Ok(done) => done,
        Err(reason) => return Err(terminate(host, child, leader, reason).await),
    };
    let status = status.map_err(|error| HostError::Other(format!("cannot wait for the process: {error}")))?;
    Ok(QueryResult { status: convert_status(status), stdout, stderr })
}

/// Reads to the end of a stream. What exceeds the limit is read and discarded, so that the program does not block.
async fn capture(source: Option<impl AsyncRead + Unpin>) -> String {
    let mut data = Vec::new();
    let Some(mut source) = source else { return String::new() };
    // A read error means the other end is closed.
    _ = (&mut source).take(QUERY_BYTES_MAX as u64).read_to_end(&mut data).await;
    _ = tokio::io::copy(&mut source, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&data).into_owned()
}

/// Discards the output tails of earlier programs.
fn discard_tails(host: &LocalHost) {
    host.report.flush();
    for stream in [Stream::Out, Stream::Err] {
        host.report.take_tail(stream);
    }
}

fn start(host: &LocalHost, command: &Command) -> Result<Child, HostError> {
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
        .env(MARK, &host.marker)
        .envs(host.traceparent.as_ref().map(|trace| ("TRACEPARENT", trace)))
        .current_dir(&command.cwd)
        .process_group(0)
        .stdin(if command.stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    starter.spawn().map_err(|error| {
        let is_missing_cwd =
            error.kind() == std::io::ErrorKind::NotFound && !std::path::Path::new(&command.cwd).is_dir();
        let reason = if is_missing_cwd {
            format!("working directory `{}` does not exist", command.cwd)
        } else {
            ErrorChain(&error).to_string()
        };
        HostError::NotStarted { program, reason }
    })
}

/// Writes the input of a program, reads its output and waits for its exit. Processes it left running do not
/// delay the result beyond [`DRAIN`].
async fn wait_with_output(
    host: &LocalHost,
    child: &mut Child,
    input: Option<Vec<u8>>,
) -> std::io::Result<ExitStatus> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write_input = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A program may exit without reading its input, so the write error is not a failure.
            _ = stdin.write_all(&input).await;
        }
    };
    let transfer = async {
        tokio::join!(
            write_input,
            pump(stdout, Stream::Out, &host.report),
            pump(stderr, Stream::Err, &host.report)
        );
    };
    let mut transfer = std::pin::pin!(transfer);
    tokio::select! {
        () = &mut transfer => child.wait().await,
        status = child.wait() => {
            _ = tokio::time::timeout(DRAIN, transfer).await;
            status
        }
    }
}

/// Ends all processes of the attempt and returns the stop as an error.
async fn terminate(
    host: &LocalHost,
    mut child: Child,
    leader: Option<ProcessId>,
    reason: StopReason,
) -> HostError {
    let family = ProcessTree { leaders: leader.into_iter().collect(), marker: host.marker.clone() };
    let termination = terminate_process_tree(family, host.machine.grace);
    // Reap the leader, or it stays as a zombie.
    let (n_remaining, _) = tokio::join!(termination, child.wait());
    host.report.flush();
    if n_remaining > 0 {
        host.report.line(&format!("cannot terminate {n_remaining} processes: they do not react to SIGKILL"));
    }
    HostError::Stopped(reason)
}

fn convert_status(status: ExitStatus) -> Status {
    status.code().map_or_else(|| Status::Signal(status.signal().unwrap_or_default()), Status::Code)
}
