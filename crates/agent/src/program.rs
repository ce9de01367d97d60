//! The `stoker agent` command: from parsed options to exit.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use stoker_bus::NatsOptions;
use stoker_model::{AgentUid, ErrorChain};
use stoker_settings::{AgentConnection, AgentNats, AgentSettings as Options, AgentTrust, TRACES_SECRETS};
use stoker_tls::{AgentKey, Trust};
use stoker_traces::Tracer;
use stoker_wire::join::{JoinRequest, JournalIdentity};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::backoff::{Backoff, BackoffLimits};
use crate::certificates::Certificates;
use crate::driver::{DriverSettings, run, stop_requested};
use crate::endpoint::Endpoint;
use crate::join::{JoinError, join};
use crate::state::{Membership, StateError, StateFolder};
use crate::transport::nats::NatsTransport;
use crate::transport::nats_first::NatsFirst;
use crate::transport::stdio::StdioTransport;
use crate::transport::websocket::WebSocketTransport;
use crate::{AgentError, facts};

/// Environment variable with the join token. Tasks do not inherit it.
const TOKEN_VARIABLE: &str = "STOKER_JOIN_TOKEN";
/// Backoff between join requests.
const JOIN_BACKOFF: BackoffLimits =
    BackoffLimits { min: Duration::from_secs(1), max: Duration::from_secs(30) };

/// An agent process, before it is connected.
struct Startup {
    options: Options,
    tracer: Tracer,
    /// Set on SIGTERM and SIGINT.
    stop: watch::Receiver<bool>,
}

/// Runs until SIGTERM or SIGINT. `print` prints a line for the user.
pub fn main(options: Options, print: &mut dyn FnMut(&str)) -> Result<(), AgentError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(AgentError::Start)?;
    let tracer = start_tracer(&options, print);
    let done = runtime.block_on(async {
        let stop = watch_signals()?;
        let link = options.link.clone();
        let startup = Startup { options, tracer: tracer.clone(), stop };
        match link {
            AgentConnection::Stdio => run_over_stdio(startup, print).await,
            AgentConnection::Server { url, token, trust, nats } => {
                let token = token.as_ref().map(stoker_settings::Secret::reveal);
                run_with_server(startup, &url, &trust, token, nats, print).await
            }
        }
    });
    tracer.shutdown();
    // A blocked read of standard input cannot be interrupted, so do not wait for the runtime's threads.
    runtime.shutdown_timeout(Duration::from_millis(100));
    done
}

/// Starts tracing. On failure the agent runs without it.
fn start_tracer(options: &Options, print: &mut dyn FnMut(&str)) -> Tracer {
    let started = options.traces.as_ref().map_or_else(|| Ok(Tracer::default()), Tracer::start);
    started.unwrap_or_else(|error| {
        print(&format!("Warning: tracing disabled: {error}"));
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

fn settings(options: Options, tracer: Tracer, node: AgentUid) -> DriverSettings {
    let hidden = [TOKEN_VARIABLE].into_iter().chain(TRACES_SECRETS);
    DriverSettings {
        hooks: options.hooks,
        hidden_env: hidden.map(str::to_owned).collect(),
        tracer,
        ..DriverSettings::new(options.state, node)
    }
}

async fn run_with_server(
    startup: Startup,
    url: &str,
    trust: &AgentTrust,
    token: Option<&str>,
    nats: Option<AgentNats>,
    print: &mut dyn FnMut(&str),
) -> Result<(), AgentError> {
    let Startup { options, tracer, mut stop } = startup;
    let folder = StateFolder::open(&options.state)?;
    // Validate the address before reading state or connecting.
    let options_endpoint = Endpoint::secured(url, &resolve_trust(trust, None)?, None)?;
    let server = options_endpoint.to_string();
    let membership = folder.membership()?.filter(|membership| options_endpoint.overlaps(&membership.server));
    let certificates = Arc::new(Certificates::open(folder.certificate_path()));
    let pin = membership.as_ref().and_then(|membership| membership.ca_fingerprint.as_deref());
    let server_trust = resolve_trust(trust, pin)?;
    let endpoint = Endpoint::secured(url, &server_trust, Some(certificates.identity()))?;
    let membership = if let Some(membership) = membership {
        membership
    } else {
        let journal = folder.journal_identity()?;
        let joining = join_with_retry(&options, &endpoint, trust, token, &certificates, journal, print);
        let joined = tokio::select! {
            joined = joining => joined?,
            () = stop_requested(&mut stop) => return Ok(()),
        };
        folder.store_membership(&joined)?;
        joined
    };
    let Membership { node_uid, credential, .. } = membership;
    print(&format!("agent of node {node_uid}, connecting to {server}"));
    let direct = WebSocketTransport::new(endpoint.clone(), credential.clone())
        .with_certificates(Arc::clone(&certificates));
    // Renewal gets a separate endpoint, because each endpoint tracks its position in the address rotation.
    let renewal_endpoint = Endpoint::secured(url, &server_trust, Some(certificates.identity()))?;
    let renewing = certificates.renew_periodically(&renewal_endpoint, &credential);
    let working = async {
        let Some(AgentNats { url, ca }) = nats else {
            return run(settings(options, tracer, node_uid), folder, direct, stop).await;
        };
        let nats = NatsOptions { ca, ..NatsOptions::new(url) };
        let nats = NatsTransport::new(endpoint.clone(), credential.clone(), node_uid.clone(), nats)?;
        run(settings(options, tracer, node_uid), folder, NatsFirst::new(nats, direct), stop).await
    };
    tokio::select! {
        done = working => done,
        () = renewing => Ok(()),
    }
}

/// Returns the trust settings from the options, otherwise the fingerprint of the authority that the agent
/// joined with.
fn resolve_trust(trust: &AgentTrust, joined_pin: Option<&str>) -> Result<Trust, AgentError> {
    let pin = trust.ca_fingerprint.as_deref().or_else(|| joined_pin.filter(|_| trust.ca.is_none()));
    Ok(match pin {
        Some(pin) => {
            let invalid = |error| AgentError::Usage(format!("invalid CA fingerprint: it {error}"));
            Trust::Pinned(pin.parse().map_err(invalid)?)
        }
        None => Trust::System { file: trust.ca.clone() },
    })
}

/// Sends the join request, with retries until the server accepts or refuses it.
async fn join_with_retry(
    options: &Options,
    endpoint: &Endpoint,
    trust: &AgentTrust,
    token: Option<&str>,
    certificates: &Certificates,
    journal: JournalIdentity,
    print: &mut dyn FnMut(&str),
) -> Result<Membership, AgentError> {
    let Some(token) = token else {
        return Err(AgentError::Usage(format!(
            "this agent has not joined {endpoint} yet: pass a join token with `--join-token` or `{TOKEN_VARIABLE}`"
        )));
    };
    let node = options.node.clone().or_else(facts::hostname).unwrap_or_default();
    // A certificate from another server would be rejected before the token is checked.
    certificates.identity().clear();
    let key = if endpoint.is_encrypted() { Some(AgentKey::new()?) } else { None };
    let request = JoinRequest {
        token: token.to_owned(),
        node,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        certificate_request: key.as_ref().map(AgentKey::request).transpose()?,
        facts: facts::collect(),
        journal: Some(journal),
    };
    let mut backoff = Backoff::new(JOIN_BACKOFF);
    loop {
        match join(endpoint, &request).await {
            Ok(response) => {
                if let (Some(chain), Some(key)) = (&response.certificate, &key) {
                    certificates.store(chain, key)?;
                }
                let (node_uid, credential) = (response.node_uid, response.credential);
                let (server, ca_fingerprint) = (endpoint.to_string(), trust.ca_fingerprint.clone());
                return Ok(Membership { server, node_uid, credential, ca_fingerprint });
            }
            Err(refused @ JoinError::Refused { .. }) => return Err(refused.into()),
            Err(error) => {
                print(&format!("{}; retrying", ErrorChain(&error)));
                tokio::time::sleep(backoff.next()).await;
            }
        }
    }
}

async fn run_over_stdio(startup: Startup, print: &mut dyn FnMut(&str)) -> Result<(), AgentError> {
    let Startup { options, tracer, mut stop } = startup;
    let Some(node) = options.node.clone() else {
        return Err(AgentError::Usage("`--stdio` requires `--node UID`".to_owned()));
    };
    let folder = tokio::select! {
        folder = wait_for_folder(&options.state, print) => folder?,
        () = stop_requested(&mut stop) => return Ok(()),
    };
    run(settings(options, tracer, node.into()), folder, StdioTransport::own(), stop).await
}

/// Poll interval while the state directory is locked.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Opens the state directory. After a broken connection the previous agent still finishes its attempts; this one
/// waits for it.
async fn wait_for_folder(path: &Path, print: &mut dyn FnMut(&str)) -> Result<StateFolder, AgentError> {
    let mut is_reported = false;
    loop {
        match StateFolder::open(path) {
            Err(StateError::InUse { .. }) => {}
            other => return Ok(other?),
        }
        if !std::mem::replace(&mut is_reported, true) {
            print("waiting for another agent to finish its running tasks");
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
