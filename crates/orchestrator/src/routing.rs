//! Routes the outputs of agent sessions to drivers, the store and other servers.

use std::sync::Arc;

use stoker_engine::session::server::{Input, Output};
use stoker_engine::session::{AttemptKey, CheckReport, FromAgent, Stream};
use stoker_model::{AgentUid, JsonMap, OutputChunk, RunId};
use stoker_wire::encode_from_agent;

use crate::agents::{Command, server_of};
use crate::orchestrator::Orchestrator;
use crate::peers::PeerMessage;
use crate::results::{Delivery, Hops, deliver};

/// Handles the outputs of a session.
pub(crate) async fn handle_outputs(orchestrator: &Orchestrator, uid: &AgentUid, outputs: Vec<Output>) {
    for output in outputs {
        if is_about_others(orchestrator, uid, &output) {
            tracing::warn!(agent.uid = uid.as_str(), "ignored a report about another agent's attempt");
            continue;
        }
        match output {
            Output::Deliver { key, .. } => {
                route(orchestrator, uid, key.run, Command::Deliver { uid: uid.clone(), key }).await;
            }
            Output::Started { key, at } => {
                route(orchestrator, uid, key.run, Command::Started { key, at }).await;
            }
            Output::Finished(finished) => {
                let key = finished.key;
                if deliver(orchestrator, uid, finished, Hops::Allowed, None).await == Delivery::RunEnded {
                    let now = orchestrator.context.clock.now();
                    orchestrator.agents.step(uid, Input::Recorded { keys: vec![key] }, now);
                }
            }
            Output::AttemptOutput { key, stream, offset, text } => {
                route_output(orchestrator, uid, AttemptOutput { key, stream, offset, text }).await;
            }
            Output::Checked(report) => return_report(orchestrator, uid, report),
            Output::Facts(facts) => set_online(orchestrator, uid, true, Some(facts)),
            Output::Lost => {
                orchestrator.metrics.agents.losses.inc();
                send_all(orchestrator, || Command::AgentLost { uid: uid.clone() }).await;
                if !is_hosted_elsewhere(orchestrator, uid).await {
                    set_online(orchestrator, uid, false, None);
                }
            }
            Output::Connected => send_all(orchestrator, || Command::AgentBack { uid: uid.clone() }).await,
            Output::QueryRuns { runs } => answer(orchestrator, uid, runs).await,
            // All sessions are woken periodically; the agent registry has already handled the other two.
            Output::WakeAt(_) | Output::Send(_) | Output::Disconnect => {}
        }
    }
}

/// Returns the report of a check to the server that waits for it.
fn return_report(orchestrator: &Orchestrator, uid: &AgentUid, report: CheckReport) {
    match server_of(&report).filter(|server| *server != orchestrator.context.owner) {
        None => orchestrator.checks.finish(uid, report),
        Some(server) => {
            let server = Arc::from(server);
            let text = encode_from_agent(&FromAgent::Checked(report));
            orchestrator.peers.send(&server, &PeerMessage::FromAgent { uid: uid.clone(), text });
        }
    }
}

/// Resends results that no driver has acknowledged in time.
pub(crate) async fn resend_unacked(orchestrator: &Orchestrator) {
    for (uid, finished) in orchestrator.agents.unacked_results(orchestrator.context.clock.now()) {
        handle_outputs(orchestrator, &uid, vec![Output::Finished(finished)]).await;
    }
}

/// Reports whether an output is a report about another agent's attempt: a compromised node must not report on
/// behalf of others. Results are checked by [`deliver`].
fn is_about_others(orchestrator: &Orchestrator, uid: &AgentUid, output: &Output) -> bool {
    let key = match output {
        Output::Started { key, .. } | Output::AttemptOutput { key, .. } => *key,
        _ => return false,
    };
    orchestrator.agents.is_executor(uid, key) == Some(false)
}

/// Notifies an agent which of the runs in its hello have ended. The drivers of the other runs claim their
/// attempts in flight when they are notified that the agent is connected.
async fn answer(orchestrator: &Orchestrator, uid: &AgentUid, runs: Vec<RunId>) {
    for run in runs {
        if orchestrator.agents.run(run).is_none() && orchestrator.context.has_ended(run).await {
            let now = orchestrator.context.clock.now();
            orchestrator.agents.step(uid, Input::RunStatus { run, generation: None }, now);
        }
    }
}

/// Sends a report to the driver of its run, on this server or another. Dropped if there is no driver.
async fn route(orchestrator: &Orchestrator, uid: &AgentUid, run: RunId, command: Command) {
    let command = match orchestrator.agents.run(run) {
        Some(inbox) => match inbox.send(command).await {
            Ok(()) => return,
            Err(unsent) => unsent.0,
        },
        None => command,
    };
    let uid = uid.clone();
    let message = match command {
        Command::Deliver { key, .. } => PeerMessage::Deliver { uid, key: key.into() },
        Command::Started { key, at } => {
            PeerMessage::FromAgent { uid, text: encode_from_agent(&FromAgent::Started { key, at }) }
        }
        _ => return,
    };
    if let Some(server) = orchestrator.peers.driver_of(run).await {
        orchestrator.peers.send(&server, &message);
    }
}

/// A chunk of an attempt's output, starting at byte `offset` of its stream.
pub(crate) struct AttemptOutput {
    pub(crate) key: AttemptKey,
    pub(crate) stream: Stream,
    pub(crate) offset: u64,
    pub(crate) text: String,
}

/// Stores output if this server drives the run or dispatched the attempt. Otherwise forwards it to the driver
/// of the run, which checks that the attempt is the agent's. Dropped after the end of the run.
async fn route_output(orchestrator: &Orchestrator, uid: &AgentUid, output: AttemptOutput) {
    let key = output.key;
    if orchestrator.agents.run(key.run).is_some() || orchestrator.agents.is_dispatched(uid, key) {
        return store_output(orchestrator, output).await;
    }
    if let Some(server) = orchestrator.peers.driver_of(key.run).await {
        let AttemptOutput { key, stream, offset, text } = output;
        let text = encode_from_agent(&FromAgent::Output { key, stream, offset, text });
        orchestrator.peers.send(&server, &PeerMessage::FromAgent { uid: uid.clone(), text });
    } else if !orchestrator.context.has_ended(key.run).await {
        store_output(orchestrator, output).await;
    }
}

/// Reports whether another live server hosts the agent. Queries the database, because the cached hosts may be
/// stale.
async fn is_hosted_elsewhere(orchestrator: &Orchestrator, uid: &AgentUid) -> bool {
    if !orchestrator.context.is_shared {
        return false;
    }
    let read = async { orchestrator.context.store.read().await?.agent_host_get(uid).await };
    let host = read.await.ok().flatten().and_then(|host| host.server_id);
    host.is_some_and(|server| orchestrator.peers.is_live(&server))
}

async fn send_all(orchestrator: &Orchestrator, command: impl Fn() -> Command) {
    for inbox in orchestrator.agents.runs() {
        // The run may have just ended.
        let _ = inbox.send(command()).await;
    }
}

pub(crate) async fn store_output(orchestrator: &Orchestrator, output: AttemptOutput) {
    let AttemptOutput { key, stream, offset, text } = output;
    let stream = match stream {
        Stream::Out => "out",
        Stream::Err => "err",
    };
    let piece = OutputChunk {
        instance: i64::from(key.instance.get()),
        attempt: i64::from(key.attempt),
        stream: stream.to_owned(),
        start: i64::try_from(offset).unwrap_or(i64::MAX),
        text,
    };
    orchestrator.output.put(key.run, piece).await;
}

/// Records whether the agent of a node is connected, and its facts. Ignores the master, which is not a node.
fn set_online(orchestrator: &Orchestrator, uid: &AgentUid, online: bool, facts: Option<JsonMap>) {
    if let Some(id) = uid.node_id() {
        orchestrator.presence.note(id, online, facts);
    }
}
