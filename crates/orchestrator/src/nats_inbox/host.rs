//! Agent sessions over NATS. Calls are distributed over a queue group: the server that receives a call
//! becomes the host of the agent.

use std::time::Duration;

use stoker_bus::{Bus, Message, Pipe, PipeSettings, Subject, SubjectPattern};
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::AgentUid;
use stoker_services::background::TaskMonitor;
use stoker_wire::nats::{
    SERVER_QUEUE_GROUP, SESSION_REQUEST_SUBJECTS, SessionRequest, inbound_subject, outbound_subject,
};
use stoker_wire::{Decoded, FROM_AGENT_BYTES_MAX};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::NatsReject;
use crate::agents::CredentialDigest;
use crate::nats::NatsUsers;
use crate::orchestrator::Orchestrator;
use crate::session::{AgentTransport, serve_agent};

/// Capacity of the message channels in each direction. Senders block while they are full.
const QUEUE: usize = 64;
/// Timeouts of agent sessions. An agent that receives no message for `silence_max` reconnects.
const PIPE: PipeSettings = PipeSettings {
    ping_interval: Duration::from_secs(10),
    silence_timeout: Duration::from_secs(25),
    bytes_max: FROM_AGENT_BYTES_MAX,
};
const LISTEN_AGAIN: Duration = Duration::from_secs(3);
/// Accepts calls of agents. Never returns.
pub(crate) async fn host(orchestrator: &Orchestrator, users: &NatsUsers, monitor: &TaskMonitor) {
    loop {
        monitor.start();
        let ended = listen(orchestrator, users, monitor).await;
        if let Err(error) = &ended {
            tracing::warn!(error = %error, "cannot listen for agents on NATS");
        }
        monitor.finish(&ended);
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

async fn listen(
    orchestrator: &Orchestrator,
    users: &NatsUsers,
    monitor: &TaskMonitor,
) -> Result<(), NatsReject> {
    let mut calls = orchestrator
        .bus
        .subscribe_shared(&SubjectPattern::new(SESSION_REQUEST_SUBJECTS)?, SERVER_QUEUE_GROUP)
        .await?;
    monitor.succeed();
    while let Some(call) = calls.next().await {
        let Some(place) = orchestrator.nats_hosting.begin() else { continue };
        let (orchestrator, users) = (orchestrator.clone(), users.clone());
        let background = orchestrator.background.clone();
        background.spawn(async move {
            if let Err(error) = answer(&orchestrator, &users, &call, place).await {
                tracing::warn!(subject = %call.subject, error = %error, "cannot respond to an agent on NATS");
            }
        });
    }
    Ok(())
}

/// Authenticates a call and serves the session until it ends.
async fn answer(
    orchestrator: &Orchestrator,
    users: &NatsUsers,
    call: &Message,
    place: OwnedSemaphorePermit,
) -> Result<(), NatsReject> {
    let words: Vec<&str> = call.subject.as_str().split('.').collect();
    let [_, _, uid, key, _] = words[..] else { return Err(NatsReject::Malformed) };
    let uid = &AgentUid::from(uid);
    if !matches!(&orchestrator.bus, Bus::Nats(nats) if nats.requires_auth()) {
        return Err(NatsReject::Unauthenticated);
    }
    let SessionRequest { session_id: conversation } =
        SessionRequest::decode(&call.body).ok_or(NatsReject::Malformed)?;
    let digest = orchestrator
        .context
        .store
        .read()
        .await?
        .agent_digest(uid)
        .await?
        .ok_or(NatsReject::InvalidCredential)?;
    if users.key_of(uid, &digest)? != key {
        return Err(NatsReject::InvalidCredential);
    }
    let here = Subject::new(outbound_subject(uid, key, &conversation))?;
    let to = Subject::new(inbound_subject(uid, key, &conversation))?;
    let pipe = Pipe::accept(orchestrator.bus.clone(), to, here, PIPE).await?;
    let (received, receive) = mpsc::channel(QUEUE);
    let (send, sending) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        let ended = pipe.run(received, sending).await;
        tracing::debug!(?ended, "NATS session ended");
        drop(place);
    });
    serve_agent(orchestrator, uid, proof_of(&digest), NatsTransport { send, receive }).await;
    Ok(())
}

/// Decodes the hexadecimal digest of a credential.
fn proof_of(digest: &str) -> Option<CredentialDigest> {
    let mut proof = CredentialDigest::default();
    if digest.len() != 2 * proof.len() {
        return None;
    }
    for (at, byte) in proof.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digest.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(proof)
}

struct NatsTransport {
    send: mpsc::Sender<Vec<u8>>,
    receive: mpsc::Receiver<Vec<u8>>,
}

impl AgentTransport for NatsTransport {
    async fn receive(&mut self) -> Option<FromAgent> {
        loop {
            let bytes = self.receive.recv().await?;
            match stoker_wire::decode_from_agent(&String::from_utf8_lossy(&bytes)) {
                Ok(Decoded::Message(message)) => return Some(message),
                // Message kind of a newer agent version.
                Ok(Decoded::Unknown) => {}
                Err(error) => {
                    tracing::warn!(error = %error, "malformed message from an agent");
                    return None;
                }
            }
        }
    }

    async fn send(&mut self, message: ToAgent) -> bool {
        self.send.send(stoker_wire::encode_to_agent(&message).into_bytes()).await.is_ok()
    }
}
