//! `stoker agent`, from its options to its end.

use std::path::Path;
use std::time::Duration;

use stoker_settings::{Agent as Options, AgentLink};
use stoker_wire::join::JoinRequest;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::backoff::Backoff;
use crate::driver::{Settings, run, stopped};
use crate::endpoint::Endpoint;
use crate::join::{JoinError, join};
use crate::state::{Membership, StateError, StateFolder};
use crate::transport::stdio::StdioTransport;
use crate::transport::websocket::WebSocketTransport;
use crate::{AgentError, facts};

/// The variable in which a token may come; no task sees it.
const TOKEN_VARIABLE: &str = "STOKER_JOIN_TOKEN";

/// Runs until the process is asked to end. The second argument tells people a line.
pub fn main(options: Options, tell: &mut dyn FnMut(&str)) -> Result<(), AgentError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(AgentError::Start)?;
    let done = runtime.block_on(async {
        let stop = watch_signals()?;
        match options.link.clone() {
            AgentLink::Stdio => over_stdio(options, stop, tell).await,
            AgentLink::Server { url, token, ca } => {
                let endpoint = Endpoint::parse(&url, ca.as_deref())?;
                let token = token.as_ref().map(stoker_settings::Secret::reveal);
                to_server(options, endpoint, token, stop, tell).await
            }
        }
    });
    // What is left on threads of the runtime is a read of standard input that nobody can interrupt.
    runtime.shutdown_timeout(Duration::from_millis(100));
    done
}

fn watch_signals() -> Result<watch::Receiver<bool>, AgentError> {
    let (sender, receiver) = watch::channel(false);
    let mut terminate = signal(SignalKind::terminate()).map_err(AgentError::Start)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(AgentError::Start)?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        _ = sender.send(true);
        sender.closed().await;
    });
    Ok(receiver)
}

fn settings(options: Options, node: String) -> Settings {
    Settings {
        hooks: options.hooks,
        hidden_env: vec![TOKEN_VARIABLE.to_owned()],
        ..Settings::new(options.state, node)
    }
}

async fn to_server(
    options: Options,
    endpoint: Endpoint,
    token: Option<&str>,
    mut stop: watch::Receiver<bool>,
    tell: &mut dyn FnMut(&str),
) -> Result<(), AgentError> {
    let folder = StateFolder::open(&options.state)?;
    let server = endpoint.to_string();
    let kept = folder.membership()?.filter(|membership| membership.server == server);
    let membership = if let Some(membership) = kept {
        membership
    } else {
        let joined = tokio::select! {
            joined = become_member(&options, &endpoint, token, tell) => joined?,
            () = stopped(&mut stop) => return Ok(()),
        };
        folder.keep_membership(&joined)?;
        joined
    };
    let Membership { node_uid, credential, .. } = membership;
    tell(&format!("agent of node {node_uid}, for {server}"));
    let transport = WebSocketTransport::new(endpoint, credential);
    run(settings(options, node_uid), folder, transport, stop).await
}

/// Asks until it is answered; a refusal is an answer.
async fn become_member(
    options: &Options,
    endpoint: &Endpoint,
    token: Option<&str>,
    tell: &mut dyn FnMut(&str),
) -> Result<Membership, AgentError> {
    let Some(token) = token else {
        return Err(AgentError::Usage(format!(
            "this agent has not joined {endpoint} yet: give it a token with `--join-token` or {TOKEN_VARIABLE}"
        )));
    };
    let node = options.node.clone().or_else(facts::hostname).unwrap_or_default();
    let request = JoinRequest { token: token.to_owned(), node, facts: facts::collect() };
    let mut backoff = Backoff::new((Duration::from_secs(1), Duration::from_secs(30)));
    loop {
        match join(endpoint, &request).await {
            Ok(answer) => {
                let (node_uid, credential) = (answer.node_uid, answer.credential);
                return Ok(Membership { server: endpoint.to_string(), node_uid, credential });
            }
            Err(refused @ JoinError::Refused { .. }) => return Err(refused.into()),
            Err(away) => {
                tell(&format!("{away}; trying again"));
                tokio::time::sleep(backoff.next()).await;
            }
        }
    }
}

async fn over_stdio(
    options: Options,
    mut stop: watch::Receiver<bool>,
    tell: &mut dyn FnMut(&str),
) -> Result<(), AgentError> {
    let Some(node) = options.node.clone() else {
        return Err(AgentError::Usage("with `--stdio` the node has to be named: `--node UID`".to_owned()));
    };
    let folder = tokio::select! {
        folder = wait_for_folder(&options.state, tell) => folder?,
        () = stopped(&mut stop) => return Ok(()),
    };
    run(settings(options, node), folder, StdioTransport::own(), stop).await
}

/// How often it is looked whether the agent before has finished.
const LOOK: Duration = Duration::from_millis(200);

/// An agent whose connection broke finishes what it was doing; the next one lets it.
async fn wait_for_folder(path: &Path, tell: &mut dyn FnMut(&str)) -> Result<StateFolder, AgentError> {
    let mut is_told = false;
    loop {
        match StateFolder::open(path) {
            Err(StateError::InUse { .. }) => {}
            other => return Ok(other?),
        }
        if !std::mem::replace(&mut is_told, true) {
            tell("another agent is finishing what it was doing; waiting for it");
        }
        tokio::time::sleep(LOOK).await;
    }
}
