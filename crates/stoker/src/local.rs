//! Agents that a server starts: the server knows no agent, and agents know no server, so they meet here.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stoker_agent::ssh::{SshTarget, connect};
use stoker_agent::transport::channel::pair;
use stoker_agent::{AgentError, Settings, StateFolder};
use stoker_server::{AgentPlace, AgentSpawner, LocalAgent, LocalConnection};
use stoker_traces::Tracer;
use tokio::sync::{mpsc, watch};

/// Between two tries to reach a node, from the first to the longest.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));
/// A connection that stood for so long was a good one.
const GOOD: Duration = Duration::from_secs(30);

/// Starts agents for the server.
pub(crate) fn spawner() -> AgentSpawner {
    Arc::new(|agent| {
        let LocalAgent { uid, place, guard, connections, tracer } = agent;
        tokio::spawn(async move {
            let _held = guard;
            match place {
                AgentPlace::Ssh { destination, port, options, command } => {
                    let target = SshTarget { port, options, ..SshTarget::new(destination, command) };
                    reach(&uid, &target, connections).await;
                }
                AgentPlace::Here { folder, hooks } => {
                    if let Err(error) = run_here(uid.clone(), folder, hooks, tracer, connections).await {
                        tracing::error!(agent.uid = uid, error = %error, "an agent inside of the server does not run");
                    }
                }
            }
        });
    })
}

async fn run_here(
    uid: String,
    path: PathBuf,
    hooks: BTreeMap<String, PathBuf>,
    tracer: Tracer,
    connections: mpsc::UnboundedSender<LocalConnection>,
) -> Result<(), AgentError> {
    let folder = StateFolder::open(&path)?;
    let (transport, mut made) = pair();
    let (stopper, stop) = watch::channel(false);
    let handing_on = async move {
        while let Some(connection) = made.recv().await {
            let connection = LocalConnection { send: connection.send, receive: connection.receive };
            if connections.send(connection).is_err() {
                break;
            }
        }
        // Nobody takes connections any more: what runs is ended with the server.
        let _ = stopper.send(true);
        stopper.closed().await;
    };
    // The environment is that of the server, with its secrets.
    let hidden_env = stoker_cli::SECRET_VARIABLES.iter().map(|name| (*name).to_owned()).collect();
    let settings = Settings { hooks, hidden_env, tracer, ..Settings::new(path, uid) };
    let ((), done) = tokio::join!(handing_on, stoker_agent::run(settings, folder, transport, stop));
    done
}

/// Keeps an agent on its node for as long as somebody takes its connections.
async fn reach(uid: &str, target: &SshTarget, connections: mpsc::UnboundedSender<LocalConnection>) {
    let mut pause = PAUSES.0;
    loop {
        let began = tokio::time::Instant::now();
        let why = match connect(target) {
            Ok(connection) => {
                let stoker_agent::ssh::SshConnection { send, receive, ended } = connection;
                if connections.send(LocalConnection { send, receive }).is_err() {
                    return;
                }
                ended.await.unwrap_or_else(|error| error.to_string())
            }
            Err(error) => error.to_string(),
        };
        tracing::warn!(agent.uid = uid, why, "the agent of a node is not reached over SSH");
        pause = if began.elapsed() > GOOD { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = connections.closed() => return,
        }
    }
}
