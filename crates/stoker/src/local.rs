//! Agents started by the server, in process or over SSH. The server and agent crates do not depend on each other;
//! this module connects them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stoker_agent::ssh::{SshTarget, start_agent};
use stoker_agent::transport::channel::channel_transport;
use stoker_agent::{AgentError, BackoffLimits, DriverSettings, StateFolder};
use stoker_model::{AgentUid, ErrorChain};
use stoker_server::{AgentPlace, AgentSpawner, LocalAgent, LocalConnection};
use stoker_traces::Tracer;
use tokio::sync::{mpsc, watch};

/// Backoff between connection attempts: initial and maximum delay.
const BACKOFF: BackoffLimits = BackoffLimits { min: Duration::from_secs(1), max: Duration::from_mins(1) };
/// Duration of a connection that resets the backoff.
const STABLE_AFTER: Duration = Duration::from_secs(30);

/// Returns the callback with which the server starts agents.
pub(crate) fn spawner() -> AgentSpawner {
    Arc::new(|agent| {
        let LocalAgent { uid, place, guard, connections, tracer } = agent;
        tokio::spawn(async move {
            let _guard = guard;
            match place {
                AgentPlace::Ssh { destination, port, options, command } => {
                    let target = SshTarget { port, options, ..SshTarget::new(destination, command) };
                    run_over_ssh(&uid, &target, connections).await;
                }
                AgentPlace::Here { folder, hooks } => {
                    if let Err(error) = run_in_process(uid.clone(), folder, hooks, tracer, connections).await
                    {
                        tracing::error!(agent.uid = uid.as_str(), error = %ErrorChain(&error), "in-process agent failed");
                    }
                }
            }
        });
    })
}

async fn run_in_process(
    uid: AgentUid,
    path: PathBuf,
    hooks: BTreeMap<String, PathBuf>,
    tracer: Tracer,
    connections: mpsc::Sender<LocalConnection>,
) -> Result<(), AgentError> {
    let folder = StateFolder::open(&path)?;
    let (transport, mut new_connections) = channel_transport();
    let (stopper, stop) = watch::channel(false);
    let forward = async move {
        while let Some(connection) = new_connections.recv().await {
            let connection = LocalConnection { send: connection.send, receive: connection.receive };
            if connections.send(connection).await.is_err() {
                break;
            }
        }
        // The server stopped accepting connections: stop the agent with its tasks.
        let _ = stopper.send(true);
        stopper.closed().await;
    };
    // The agent inherits the environment of the server; hide its secrets from tasks.
    let hidden_env = stoker_cli::SECRET_VARIABLES.iter().map(|name| (*name).to_owned()).collect();
    let settings = DriverSettings { hooks, hidden_env, tracer, ..DriverSettings::new(path, uid) };
    let ((), result) = tokio::join!(forward, stoker_agent::run(settings, folder, transport, stop));
    result
}

/// Keeps an agent connected over SSH until the server stops accepting connections.
async fn run_over_ssh(uid: &AgentUid, target: &SshTarget, connections: mpsc::Sender<LocalConnection>) {
    let mut delay = BACKOFF.min;
    loop {
        let connected_at = tokio::time::Instant::now();
        let error = match start_agent(target) {
            Ok(connection) => {
                let stoker_agent::ssh::SshConnection { send, receive, exit_reason: ended } = connection;
                if connections.send(LocalConnection { send, receive }).await.is_err() {
                    return;
                }
                ended.await.unwrap_or_else(|error| ErrorChain(&error).to_string())
            }
            Err(error) => ErrorChain(&error).to_string(),
        };
        tracing::warn!(agent.uid = uid.as_str(), error, "SSH connection to agent lost; retrying");
        delay =
            if connected_at.elapsed() > STABLE_AFTER { BACKOFF.min } else { (delay * 2).min(BACKOFF.max) };
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            () = connections.closed() => return,
        }
    }
}
