//! Handles messages from other servers.

use std::sync::Arc;

use stoker_engine::session::server::{Input, Output};
use stoker_engine::session::{AttemptKey, FromAgent, Generation, InFlight, ToAgent};
use stoker_model::{AgentUid, ErrorChain, RunId};
use stoker_wire::{Decoded, decode_from_agent, decode_to_agent, encode_to_agent};

use crate::agents::{AgentLocation, Command, RunResponse};
use crate::orchestrator::Orchestrator;
use crate::peers::{Envelope, PeerMessage, RequestId, RunControl};
use crate::results::{Delivery, Hops, deliver, deliver_and_wait};
use crate::routing::{AttemptOutput, handle_outputs, store_output};
use crate::runs::control_here;

pub(super) async fn handle_message(orchestrator: &Orchestrator, envelope: Envelope) {
    let from: Arc<str> = envelope.from.into();
    let (agents, peers) = (&orchestrator.agents, &orchestrator.peers);
    match envelope.message {
        PeerMessage::Dispatch { uid, key, generation, start } => {
            let key = AttemptKey::from(key);
            peers.note_driver(key.run, &from);
            dispatch(orchestrator, &uid, key, Generation(generation), &start).await;
        }
        PeerMessage::Claim { uid, run, generation, flights } => {
            let run = RunId(run);
            peers.note_driver(run, &from);
            if agents.location(&uid) == AgentLocation::Here {
                let flights: Vec<InFlight> = flights.into_iter().map(InFlight::from).collect();
                let (generation, now) = (Generation(generation), orchestrator.context.clock.now());
                let outputs = agents.claim(&uid, run, generation, &flights, now);
                handle_outputs(orchestrator, &uid, outputs).await;
            }
        }
        PeerMessage::ToAgent { uid, text } => to_agent(orchestrator, &uid, &text).await,
        PeerMessage::Deliver { uid, key } => {
            let key = AttemptKey::from(key);
            to_run(orchestrator, &from, key.run, Command::Deliver { uid, key }).await;
        }
        PeerMessage::FromAgent { uid, text } => from_agent(orchestrator, &from, uid, &text).await,
        PeerMessage::NotMine { run } => {
            let run = RunId(run);
            if peers.cached_driver(run).is_some_and(|server| server == from) {
                peers.forget_driver(run);
            }
        }
        PeerMessage::Ask { id, run, what } => control(orchestrator, from, id, RunId(run), what),
        PeerMessage::Answer { id, answer } => peers.respond(id, answer),
        PeerMessage::Settle { id, uid, text } => settle(orchestrator, from, id, uid, &text),
        PeerMessage::ForgetTokens => (orchestrator.forget_tokens)(),
        PeerMessage::CloseAgent { uid } => orchestrator.close_here(&uid),
        PeerMessage::TakeUp => peers.take_over.notify_one(),
        PeerMessage::News { run } => orchestrator.event_feed.notify(RunId(run)),
        PeerMessage::Unknown => {}
    }
}

/// Dispatches an attempt to an agent. The message contains the attempt, so it need not be requested from the
/// driver.
async fn dispatch(
    orchestrator: &Orchestrator,
    uid: &AgentUid,
    key: AttemptKey,
    generation: Generation,
    start: &str,
) {
    let agents = &orchestrator.agents;
    if agents.location(uid) != AgentLocation::Here {
        return;
    }
    let now = orchestrator.context.clock.now();
    let mut outputs = agents.step(uid, Input::Dispatch { key, generation }, now);
    let delivery = Output::Deliver { key, generation };
    if outputs.contains(&delivery)
        && let Ok(Decoded::Message(message)) = decode_to_agent(start)
    {
        outputs.retain(|output| *output != delivery);
        agents.send(uid, message);
    }
    handle_outputs(orchestrator, uid, outputs).await;
}

async fn to_agent(orchestrator: &Orchestrator, uid: &AgentUid, text: &str) {
    let message = match decode_to_agent(text) {
        Ok(Decoded::Message(message)) => message,
        Ok(Decoded::Unknown) => return,
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), "cannot decode a peer's message to an agent");
            return;
        }
    };
    let agents = &orchestrator.agents;
    if agents.location(uid) != AgentLocation::Here {
        return;
    }
    let input = match message {
        ToAgent::Cancel { key, generation, how } => Input::Cancel { key, generation, how },
        ToAgent::Acknowledge { keys } => Input::Recorded { keys },
        ToAgent::RunEnded { run } => {
            orchestrator.peers.forget_driver(run);
            Input::RunStatus { run, generation: None }
        }
        message @ (ToAgent::Start(_) | ToAgent::Check(_)) => return agents.send(uid, message),
        ToAgent::Welcome { .. } => return,
    };
    let outputs = agents.step(uid, input, orchestrator.context.clock.now());
    handle_outputs(orchestrator, uid, outputs).await;
}

async fn from_agent(orchestrator: &Orchestrator, from: &Arc<str>, uid: AgentUid, text: &str) {
    let message = match decode_from_agent(text) {
        Ok(Decoded::Message(message)) => message,
        Ok(Decoded::Unknown) => return,
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), "cannot decode the message of a peer's agent");
            return;
        }
    };
    match message {
        FromAgent::Started { key, at } => {
            if orchestrator.agents.is_executor(&uid, key) == Some(false) {
                tracing::warn!(agent.uid = uid.as_str(), "ignored a report about another agent's attempt");
                return;
            }
            to_run(orchestrator, from, key.run, Command::Started { key, at }).await;
        }
        FromAgent::Finished(finished) => {
            let key = finished.key;
            let delivery = deliver(orchestrator, &uid, finished, Hops::Exhausted, None).await;
            if matches!(delivery, Delivery::RunEnded | Delivery::NoDriver) {
                orchestrator.peers.send(from, &PeerMessage::NotMine { run: key.run.0 });
            }
            if delivery == Delivery::RunEnded {
                let text = encode_to_agent(&ToAgent::Acknowledge { keys: vec![key] });
                orchestrator.peers.send(from, &PeerMessage::ToAgent { uid, text });
            }
        }
        FromAgent::Output { key, stream, offset, text } => {
            if orchestrator.agents.is_executor(&uid, key) == Some(true) {
                store_output(orchestrator, AttemptOutput { key, stream, offset, text }).await;
            }
        }
        FromAgent::Checked(report) => orchestrator.checks.finish(&uid, report),
        FromAgent::Hello(_) | FromAgent::Heartbeat | FromAgent::Facts(_) => {}
    }
}

/// Sends a command to the driver of a run. If this server is not the driver, the sender looks up the driver
/// again.
async fn to_run(orchestrator: &Orchestrator, from: &Arc<str>, run: RunId, command: Command) {
    if let Some(inbox) = orchestrator.agents.run(run)
        && inbox.send(command).await.is_ok()
    {
        return;
    }
    orchestrator.peers.send(from, &PeerMessage::NotMine { run: run.0 });
}

/// Executes a control request. Idempotent: a retried request gets the cached response and is not executed
/// again.
fn control(orchestrator: &Orchestrator, from: Arc<str>, id: u64, run: RunId, what: RunControl) {
    let request = RequestId { server: from.to_string(), number: id };
    match orchestrator.peers.begin_request(&request) {
        Ok(()) => {}
        Err(Some(answer)) => return orchestrator.peers.send(&from, &PeerMessage::Answer { id, answer }),
        Err(None) => return,
    }
    let worker = orchestrator.clone();
    orchestrator.background.spawn(async move {
        let answer = RunResponse::of(control_here(&worker, run, what.input()).await);
        worker.peers.end_request(&request, answer);
        worker.peers.send(&from, &PeerMessage::Answer { id, answer });
    });
}

/// Handles a stored result that another server has consumed and authenticated.
fn settle(orchestrator: &Orchestrator, from: Arc<str>, id: u64, uid: AgentUid, text: &str) {
    let Ok(Decoded::Message(FromAgent::Finished(finished))) = decode_from_agent(text) else {
        tracing::warn!("cannot decode a result that a peer forwarded");
        return;
    };
    let worker = orchestrator.clone();
    orchestrator.background.spawn(async move {
        let receipt = deliver_and_wait(&worker, &uid, finished, Hops::Exhausted).await;
        worker.peers.send(&from, &PeerMessage::Answer { id, answer: receipt.into() });
    });
}
