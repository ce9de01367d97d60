//! The server's side of an agent that is started over SSH: the system's own `ssh`, with everything its users have configured
//! for it, carries the same messages as lines.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use stoker_engine::session::{FromAgent, ToAgent};
use stoker_tasks::host::single_quoted;
use stoker_wire::{Decoded, FROM_AGENT_BYTES_MAX, WireError, decode_from_agent, encode_to_agent};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::transport::QUEUE;
use crate::transport::stdio::read_line;

/// A node to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshTarget {
    /// As `ssh` takes it: a host, `user@host`, or a name from its configuration.
    pub destination: String,
    pub port: Option<u16>,
    /// Further options, as `-i`, `-F` or `-o`.
    pub options: Vec<String>,
    /// What is started there: `stoker agent --stdio …`.
    pub command: Vec<String>,
    /// The program.
    pub ssh: PathBuf,
}

/// A conversation over SSH. It is over when nothing can be received any more.
#[derive(Debug)]
pub struct SshConnection {
    pub send: mpsc::Sender<ToAgent>,
    pub receive: mpsc::Receiver<FromAgent>,
    /// Why it ended, in the words of `ssh` or of the agent.
    pub ended: JoinHandle<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum SshError {
    #[error("`{0}` is no destination for ssh")]
    Destination(String),
    #[error("cannot start `{}`; is an SSH client installed?", ssh.display())]
    Start { ssh: PathBuf, source: std::io::Error },
}

impl SshTarget {
    pub fn new(destination: String, command: Vec<String>) -> Self {
        Self { destination, port: None, options: Vec::new(), command, ssh: PathBuf::from("ssh") }
    }

    /// Nobody is there to answer questions, and a dead peer has to be noticed.
    fn arguments(&self) -> Vec<String> {
        let fixed =
            ["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"];
        let mut arguments: Vec<String> = fixed.map(str::to_owned).into();
        if let Some(port) = self.port {
            arguments.extend(["-p".to_owned(), port.to_string()]);
        }
        arguments.extend(self.options.iter().cloned());
        arguments.extend(["--".to_owned(), self.destination.clone()]);
        // The other side gives it to a shell.
        let command: Vec<String> = self.command.iter().map(|word| single_quoted(word)).collect();
        arguments.push(command.join(" "));
        arguments
    }
}

/// Starts the agent on its node.
pub fn connect(target: &SshTarget) -> Result<SshConnection, SshError> {
    if target.destination.is_empty() || target.destination.starts_with('-') {
        return Err(SshError::Destination(target.destination.clone()));
    }
    let mut child = Command::new(&target.ssh)
        .args(target.arguments())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| SshError::Start { ssh: target.ssh.clone(), source })?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (send, sending) = mpsc::channel(QUEUE);
    let (received, receive) = mpsc::channel(QUEUE);
    if let Some(stdin) = stdin {
        tokio::spawn(write(stdin, sending));
    }
    let ended = tokio::spawn(read(child, stdout, stderr, received));
    Ok(SshConnection { send, receive, ended })
}

/// Until the server lets go of its end; the agent then sees the end of its input.
async fn write(mut stdin: ChildStdin, mut sending: mpsc::Receiver<ToAgent>) {
    while let Some(message) = sending.recv().await {
        let line = format!("{}\n", encode_to_agent(&message));
        if stdin.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// How much of what `ssh` and the agent complain about is kept.
const COMPLAINT_BYTES_MAX: usize = 4 << 10;

/// How long `ssh` may take to end when nobody talks to it any more.
const END_MAX: Duration = Duration::from_secs(5);

async fn read(
    mut child: Child,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    received: mpsc::Sender<FromAgent>,
) -> String {
    let complaints = tokio::spawn(async move {
        let mut kept = Vec::new();
        if let Some(mut stderr) = stderr {
            let mut buffer = vec![0; 1024];
            while let Ok(n_read @ 1..) = stderr.read(&mut buffer).await {
                kept.extend_from_slice(&buffer[..n_read]);
                kept.drain(..kept.len().saturating_sub(COMPLAINT_BYTES_MAX));
            }
        }
        String::from_utf8_lossy(&kept).trim().to_owned()
    });
    if let Some(stdout) = stdout {
        let mut lines = BufReader::new(stdout);
        while let Ok(Some(line)) = read_line(&mut lines, FROM_AGENT_BYTES_MAX).await {
            match decode_from_agent(&line) {
                Ok(Decoded::Message(message)) => {
                    if received.send(message).await.is_err() {
                        break;
                    }
                }
                Ok(Decoded::Unknown) => {}
                Err(error @ WireError::Version { .. }) => {
                    tracing::error!(%error, "the agent of a node cannot be spoken with");
                    break;
                }
                // A greeting of the other side's shell, for instance.
                Err(error) => tracing::debug!(%error, "a line is no message"),
            }
        }
    }
    drop(received);
    let status = tokio::time::timeout(END_MAX, child.wait()).await;
    let complaints =
        tokio::time::timeout(END_MAX, complaints).await.ok().and_then(Result::ok).unwrap_or_default();
    match status {
        Ok(Ok(status)) if complaints.is_empty() => status.to_string(),
        Ok(Ok(status)) => format!("{status}: {complaints}"),
        _ => complaints,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_the_shell_of_the_other_side() {
        let command = ["stoker", "agent", "--node", "it's 5"].map(str::to_owned).to_vec();
        let mut target = SshTarget::new("root@node-5".to_owned(), command);
        target.port = Some(2222);
        let arguments = target.arguments();
        assert!(arguments.ends_with(&[
            "--".to_owned(),
            "root@node-5".to_owned(),
            r"stoker agent --node 'it'\''s 5'".to_owned()
        ]));
        assert!(arguments.windows(2).any(|pair| pair == ["-p", "2222"]));
    }

    #[test]
    fn options_in_the_place_of_a_host_are_refused() {
        for destination in ["", "-oProxyCommand=touch x"] {
            let target = SshTarget::new(destination.to_owned(), Vec::new());
            assert!(matches!(connect(&target), Err(SshError::Destination(_))));
        }
    }
}
