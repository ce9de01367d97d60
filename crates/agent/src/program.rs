//! `stoker agent`, from its options to its end.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use stoker_bus::NatsOptions;
use stoker_settings::{Agent as Options, AgentLink, AgentNats, AgentTrust, TRACES_SECRETS};
use stoker_tls::{AgentKey, Trust};
use stoker_traces::Tracer;
use stoker_wire::join::JoinRequest;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::backoff::Backoff;
use crate::certificates::Certificates;
use crate::driver::{Settings, run, stopped};
use crate::endpoint::Endpoint;
use crate::join::{JoinError, join};
use crate::state::{Membership, StateError, StateFolder};
use crate::transport::nats::NatsTransport;
use crate::transport::nats_first::NatsFirst;
use crate::transport::stdio::StdioTransport;
use crate::transport::websocket::WebSocketTransport;
use crate::{AgentError, facts};

/// The variable in which a token may come; no task sees it.
const TOKEN_VARIABLE: &str = "STOKER_JOIN_TOKEN";

/// Runs until the process is asked to end. The second argument tells people a line.
pub fn main(options: Options, tell: &mut dyn FnMut(&str)) -> Result<(), AgentError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(AgentError::Start)?;
    let tracer = start_tracer(&options, tell);
    let done = runtime.block_on(async {
        let stop = watch_signals()?;
        let tracer = tracer.clone();
        match options.link.clone() {
            AgentLink::Stdio => over_stdio(options, tracer, stop, tell).await,
            AgentLink::Server { url, token, trust, nats } => {
                let token = token.as_ref().map(stoker_settings::Secret::reveal);
                to_server((options, tracer), &url, &trust, token, nats, stop, tell).await
            }
        }
    });
    tracer.end();
    // What is left on threads of the runtime is a read of standard input that nobody can interrupt.
    runtime.shutdown_timeout(Duration::from_millis(100));
    done
}

/// Where nothing can be sent an agent works all the same.
fn start_tracer(options: &Options, tell: &mut dyn FnMut(&str)) -> Tracer {
    let started = options.traces.as_ref().map_or_else(|| Ok(Tracer::default()), Tracer::start);
    started.unwrap_or_else(|error| {
        tell(&format!("Warning: no traces are sent: {error}"));
        Tracer::default()
    })
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

fn settings(options: Options, tracer: Tracer, node: String) -> Settings {
    let hidden = [TOKEN_VARIABLE].into_iter().chain(TRACES_SECRETS);
    Settings {
        hooks: options.hooks,
        hidden_env: hidden.map(str::to_owned).collect(),
        tracer,
        ..Settings::new(options.state, node)
    }
}

async fn to_server(
    (options, tracer): (Options, Tracer),
    url: &str,
    trust: &AgentTrust,
    token: Option<&str>,
    nats: Option<AgentNats>,
    mut stop: watch::Receiver<bool>,
    tell: &mut dyn FnMut(&str),
) -> Result<(), AgentError> {
    let folder = StateFolder::open(&options.state)?;
    // Judged before anything is read or asked.
    let said = Endpoint::secured(url, &trusted(trust, None)?, None)?;
    let server = said.to_string();
    let kept = folder.membership()?.filter(|membership| said.is_known_as(&membership.server));
    let certificates = Arc::new(Certificates::open(folder.certificate_path()));
    let pin = kept.as_ref().and_then(|membership| membership.ca_fingerprint.as_deref());
    let trusting = trusted(trust, pin)?;
    let endpoint = Endpoint::secured(url, &trusting, Some(certificates.identity()))?;
    let membership = if let Some(membership) = kept {
        membership
    } else {
        let joining = become_member(&options, &endpoint, trust, token, &certificates, tell);
        let joined = tokio::select! {
            joined = joining => joined?,
            () = stopped(&mut stop) => return Ok(()),
        };
        folder.keep_membership(&joined)?;
        joined
    };
    let Membership { node_uid, credential, .. } = membership;
    tell(&format!("agent of node {node_uid}, for {server}"));
    let straight =
        WebSocketTransport::new(endpoint.clone(), credential.clone()).showing(Arc::clone(&certificates));
    // Asked through an endpoint of its own: each remembers which of several servers it has tried last.
    let asking = Endpoint::secured(url, &trusting, Some(certificates.identity()))?;
    let renewing = certificates.look_after(&asking, &credential);
    let working = async {
        let Some(AgentNats { url, ca }) = nats else {
            return run(settings(options, tracer, node_uid), folder, straight, stop).await;
        };
        let nats = NatsOptions { ca, ..NatsOptions::new(url) };
        let nats = NatsTransport::new(endpoint.clone(), credential.clone(), node_uid.clone(), nats)?;
        run(settings(options, tracer, node_uid), folder, NatsFirst::new(nats, straight), stop).await
    };
    tokio::select! {
        done = working => done,
        () = renewing => Ok(()),
    }
}

/// What was said this time, else what the agent joined with.
fn trusted(said: &AgentTrust, kept: Option<&str>) -> Result<Trust, AgentError> {
    let pin = said.ca_fingerprint.as_deref().or_else(|| kept.filter(|_| said.ca.is_none()));
    Ok(match pin {
        Some(pin) => {
            let wrong = |error| AgentError::Usage(format!("the fingerprint of the authority {error}"));
            Trust::Pinned(pin.parse().map_err(wrong)?)
        }
        None => Trust::System { file: said.ca.clone() },
    })
}

/// Asks until it is answered; a refusal is an answer.
async fn become_member(
    options: &Options,
    endpoint: &Endpoint,
    trust: &AgentTrust,
    token: Option<&str>,
    certificates: &Certificates,
    tell: &mut dyn FnMut(&str),
) -> Result<Membership, AgentError> {
    let Some(token) = token else {
        return Err(AgentError::Usage(format!(
            "this agent has not joined {endpoint} yet: give it a token with `--join-token` or {TOKEN_VARIABLE}"
        )));
    };
    let node = options.node.clone().or_else(facts::hostname).unwrap_or_default();
    // One of another server would be refused before the token is looked at.
    certificates.identity().clear();
    let key = if endpoint.is_encrypted() { Some(AgentKey::new()?) } else { None };
    let request = JoinRequest {
        token: token.to_owned(),
        node,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        certificate_request: key.as_ref().map(AgentKey::request).transpose()?,
        facts: facts::collect(),
    };
    let mut backoff = Backoff::new((Duration::from_secs(1), Duration::from_secs(30)));
    loop {
        match join(endpoint, &request).await {
            Ok(answer) => {
                if let (Some(chain), Some(key)) = (&answer.certificate, &key) {
                    certificates.keep(chain, key)?;
                }
                let (node_uid, credential) = (answer.node_uid, answer.credential);
                let (server, ca_fingerprint) = (endpoint.to_string(), trust.ca_fingerprint.clone());
                return Ok(Membership { server, node_uid, credential, ca_fingerprint });
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
    tracer: Tracer,
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
    run(settings(options, tracer, node), folder, StdioTransport::own(), stop).await
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
