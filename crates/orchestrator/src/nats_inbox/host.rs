//! Agent sessions over NATS. Calls are distributed over a queue group: the server that receives a call
//! becomes the host of the agent.

use std::time::Duration;

use stoker_bus::{Bus, Message, Pipe, PipeSettings, Subject, SubjectPattern};
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::ErrorChain;
use stoker_services::background::TaskMonitor;
use stoker_wire::nats::{
    SERVER_QUEUE_GROUP, SESSION_REQUEST_SUBJECTS, SessionRequest, inbound_subject, outbound_subject,
};
use stoker_wire::{Decoded, FROM_AGENT_BYTES_MAX};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::{LISTEN_RETRY_INTERVAL, NatsReject, Sender, authenticate};
use crate::agents::CredentialDigest;
use crate::nats::NatsUsers;
use crate::orchestrator::Orchestrator;
use crate::session::{AgentTransport, serve_agent};

/// Capacity of the message channels in each direction. Senders block while they are full.
const QUEUE: usize = 64;
/// Timeouts of agent sessions. An agent that receives no message for `silence_timeout` reconnects.
const PIPE: PipeSettings = PipeSettings {
    ping_interval: Duration::from_secs(10),
    silence_timeout: Duration::from_secs(25),
    bytes_max: FROM_AGENT_BYTES_MAX,
};

/// Accepts calls of agents. Never returns.
pub(crate) async fn host(orchestrator: &Orchestrator, users: &NatsUsers, monitor: &TaskMonitor) {
    loop {
        monitor.start();
        let outcome = listen(orchestrator, users, monitor).await;
        if let Err(error) = &outcome {
            tracing::warn!(error = %ErrorChain(error), "cannot listen for agents on NATS");
        }
        monitor.finish(&outcome);
        tokio::time::sleep(LISTEN_RETRY_INTERVAL).await;
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
        let Some(permit) = orchestrator.nats_hosting.begin() else { continue };
        let (orchestrator, users) = (orchestrator.clone(), users.clone());
        let background = orchestrator.background.clone();
        background.spawn(async move {
            if let Err(error) = serve_call(&orchestrator, &users, &call, permit).await {
                tracing::warn!(subject = %call.subject, error = %ErrorChain(&error), "cannot respond to an agent on NATS");
            }
        });
    }
    Ok(())
}

/// Authenticates a call and serves the session until it ends.
async fn serve_call(
    orchestrator: &Orchestrator,
    users: &NatsUsers,
    call: &Message,
    permit: OwnedSemaphorePermit,
) -> Result<(), NatsReject> {
    if !matches!(&orchestrator.bus, Bus::Nats(nats) if nats.requires_auth()) {
        return Err(NatsReject::Unauthenticated);
    }
    let SessionRequest { session_id } = SessionRequest::decode(&call.body).ok_or(NatsReject::Malformed)?;
    let Sender { uid, key, digest } = authenticate(orchestrator, users, &call.subject).await?;
    let from_agent = Subject::new(outbound_subject(&uid, &key, &session_id))?;
    let to_agent = Subject::new(inbound_subject(&uid, &key, &session_id))?;
    let pipe = Pipe::accept(orchestrator.bus.clone(), to_agent, from_agent, PIPE).await?;
    let (inbound, receive) = mpsc::channel(QUEUE);
    let (send, outbound) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        let end = pipe.run(inbound, outbound).await;
        tracing::debug!(?end, "NATS session ended");
        drop(permit);
    });
    serve_agent(orchestrator, &uid, proof_of(&digest), NatsTransport { send, receive }).await;
    Ok(())
}

/// Decodes the hexadecimal digest of a credential.
fn proof_of(digest: &str) -> Option<CredentialDigest> {
    let mut proof = CredentialDigest::default();
    hex::decode_to_slice(digest, &mut proof).ok()?;
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
                    tracing::warn!(error = %ErrorChain(&error), "malformed message from an agent");
                    return None;
                }
            }
        }
    }

    async fn send(&mut self, message: ToAgent) -> bool {
        self.send.send(stoker_wire::encode_to_agent(&message).into_bytes()).await.is_ok()
    }
}
