//! Server side of an agent that is started over SSH. Messages are JSON lines over the pipes of the system's
//! `ssh` client, which applies the user's SSH configuration.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::ErrorChain;
use stoker_tasks::host::shell_quote;
use stoker_wire::{Decoded, FROM_AGENT_BYTES_MAX, WireError, decode_from_agent, encode_to_agent};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::transport::QUEUE;
use crate::transport::stdio::read_line;

/// SSH destination and remote command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshTarget {
    /// Destination argument of `ssh`: a host, `user@host`, or an alias from its configuration.
    pub destination: String,
    pub port: Option<u16>,
    /// Additional `ssh` options such as `-i`, `-F` or `-o`.
    pub options: Vec<String>,
    /// Remote command: `stoker agent --stdio …`.
    pub command: Vec<String>,
    /// Path of the `ssh` program.
    pub ssh: PathBuf,
}

/// Session over SSH. The session has ended when `receive` is closed.
#[derive(Debug)]
pub struct SshConnection {
    pub send: mpsc::Sender<ToAgent>,
    pub receive: mpsc::Receiver<FromAgent>,
    /// Resolves to the exit status of `ssh` and the end of its standard error.
    pub exit_reason: JoinHandle<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum SshError {
    #[error("`{0}` is not a valid SSH destination")]
    Destination(String),
    #[error("cannot start `{}`; is an SSH client installed?", ssh.display())]
    Start { ssh: PathBuf, source: std::io::Error },
}

impl SshTarget {
    pub fn new(destination: String, command: Vec<String>) -> Self {
        Self { destination, port: None, options: Vec::new(), command, ssh: PathBuf::from("ssh") }
    }

    /// Returns the arguments of `ssh`: batch mode, because no user can answer prompts, and keep-alives, so
    /// that a dead peer is detected.
    fn arguments(&self) -> Vec<String> {
        let fixed =
            ["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"];
        let mut arguments: Vec<String> = fixed.map(str::to_owned).into();
        if let Some(port) = self.port {
            arguments.extend(["-p".to_owned(), port.to_string()]);
        }
        arguments.extend(self.options.iter().cloned());
        arguments.extend(["--".to_owned(), self.destination.clone()]);
        // The remote side passes the command to a shell.
        let command: Vec<String> = self.command.iter().map(|word| shell_quote(word)).collect();
        arguments.push(command.join(" "));
        arguments
    }
}

/// Starts the agent on the node.
pub fn start_agent(target: &SshTarget) -> Result<SshConnection, SshError> {
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
    Ok(SshConnection { send, receive, exit_reason: ended })
}

/// Writes messages until the sender is dropped; closing the pipe then signals end of input to the agent.
async fn write(mut stdin: ChildStdin, mut sending: mpsc::Receiver<ToAgent>) {
    while let Some(message) = sending.recv().await {
        let line = format!("{}\n", encode_to_agent(&message));
        if stdin.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Maximum number of bytes of standard error retained from `ssh` and the agent. Only the tail is kept.
const STDERR_BYTES_MAX: usize = 4 << 10;

/// Maximum time for `ssh` to exit after its output has ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

async fn read(
    mut child: Child,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    received: mpsc::Sender<FromAgent>,
) -> String {
    let stderr_tail = tokio::spawn(async move {
        let mut tail = Vec::new();
        if let Some(mut stderr) = stderr {
            let mut buffer = vec![0; 1024];
            while let Ok(n_read @ 1..) = stderr.read(&mut buffer).await {
                tail.extend_from_slice(&buffer[..n_read]);
                tail.drain(..tail.len().saturating_sub(STDERR_BYTES_MAX));
            }
        }
        String::from_utf8_lossy(&tail).trim().to_owned()
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
                    tracing::error!(error = %ErrorChain(&error), "incompatible agent");
                    break;
                }
                // The line may be a login banner of the remote shell.
                Err(error) => {
                    tracing::debug!(error = %ErrorChain(&error), "ignored a line that is not a message");
                }
            }
        }
    }
    drop(received);
    let status = tokio::time::timeout(EXIT_TIMEOUT, child.wait()).await;
    let stderr_tail =
        tokio::time::timeout(EXIT_TIMEOUT, stderr_tail).await.ok().and_then(Result::ok).unwrap_or_default();
    match status {
        Ok(Ok(status)) if stderr_tail.is_empty() => status.to_string(),
        Ok(Ok(status)) => format!("{status}: {stderr_tail}"),
        _ => stderr_tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_command_is_quoted() {
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
    fn destination_that_looks_like_an_option_is_rejected() {
        for destination in ["", "-oProxyCommand=touch x"] {
            let target = SshTarget::new(destination.to_owned(), Vec::new());
            assert!(matches!(start_agent(&target), Err(SshError::Destination(_))));
        }
    }
}
