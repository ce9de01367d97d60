//! Agents that come over NATS: whichever server takes the call is the host.

use std::sync::Arc;
use std::time::Duration;

use stoker_bus::{Bus, Message, Pattern, Pipe, PipeSettings, Subject};
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_wire::nats::{CALLS, Call, SERVERS, into, out};
use stoker_wire::{Decoded, FROM_AGENT_BYTES_MAX};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::{NatsUsers, Unheard};
use crate::runs::{Carrier, Proof, converse};
use crate::state::App;

/// Conversations of one server. Who calls beyond that is left to another.
const HOSTED_MAX: u32 = 50_000;
/// Messages on their way; a side that is faster than the other waits.
const QUEUE: usize = 64;
/// An agent that hears nothing for as long calls again.
const PIPE: PipeSettings = PipeSettings {
    ping_every: Duration::from_secs(10),
    silence_max: Duration::from_secs(25),
    bytes_max: FROM_AGENT_BYTES_MAX,
};
const LISTEN_AGAIN: Duration = Duration::from_secs(3);
/// For telling agents that this server goes.
const GOODBYE_MAX: Duration = Duration::from_secs(2);

/// The conversations that go on.
pub(crate) struct Hosting {
    places: Arc<Semaphore>,
}

impl Default for Hosting {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(HOSTED_MAX as usize)) }
    }
}

impl Hosting {
    /// All agents know that this server goes, or it was tried.
    pub(crate) async fn ended(&self) {
        _ = tokio::time::timeout(GOODBYE_MAX, self.places.acquire_many(HOSTED_MAX)).await;
    }
}

/// Takes calls of agents. Returns at once where none come over NATS, and never otherwise.
pub(crate) async fn host(app: &App) {
    let Some(users) = &app.nats_users else { return };
    loop {
        if let Err(error) = listen(app, users).await {
            tracing::warn!(error = %error, "agents on NATS are not heard");
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

async fn listen(app: &App, users: &NatsUsers) -> Result<(), Unheard> {
    let mut calls = app.bus.subscribe_shared(&Pattern::new(CALLS)?, SERVERS).await?;
    while let Some(call) = calls.next().await {
        let Ok(place) = Arc::clone(&app.hosting.places).try_acquire_owned() else { continue };
        let (app, users) = (app.clone(), users.clone());
        app.clone().spawn(async move {
            if let Err(error) = answer(&app, &users, &call, place).await {
                tracing::warn!(subject = %call.subject, error = %error, "an agent on NATS was not answered");
            }
        });
    }
    Ok(())
}

/// From a call to the end of the conversation.
async fn answer(
    app: &App,
    users: &NatsUsers,
    call: &Message,
    place: OwnedSemaphorePermit,
) -> Result<(), Unheard> {
    let words: Vec<&str> = call.subject.as_str().split('.').collect();
    let [_, _, uid, key, _] = words[..] else { return Err(Unheard::Nonsense) };
    if !matches!(&app.bus, Bus::Nats(nats) if nats.is_guarded()) {
        return Err(Unheard::Unguarded);
    }
    let Call { conversation } = Call::decode(&call.body).ok_or(Unheard::Nonsense)?;
    let digest = app.store.read().await?.agent_digest(uid).await?.ok_or(Unheard::Unknown)?;
    if users.key_of(uid, &digest)? != key {
        return Err(Unheard::Unknown);
    }
    let here = Subject::new(out(uid, key, &conversation))?;
    let to = Subject::new(into(uid, key, &conversation))?;
    let pipe = Pipe::answer(app.bus.clone(), to, here, PIPE).await?;
    let (received, receive) = mpsc::channel(QUEUE);
    let (send, sending) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        let ended = pipe.carry(received, sending).await;
        tracing::debug!(?ended, "a conversation over NATS is over");
        drop(place);
    });
    converse(app, uid, proof_of(&digest), Piped { send, receive }).await;
    Ok(())
}

/// The credential that a call was judged by, as sessions know it.
fn proof_of(digest: &str) -> Option<Proof> {
    let mut proof = Proof::default();
    if digest.len() != 2 * proof.len() {
        return None;
    }
    for (at, byte) in proof.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digest.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(proof)
}

struct Piped {
    send: mpsc::Sender<Vec<u8>>,
    receive: mpsc::Receiver<Vec<u8>>,
}

impl Carrier for Piped {
    async fn receive(&mut self) -> Option<FromAgent> {
        loop {
            let bytes = self.receive.recv().await?;
            match stoker_wire::decode_from_agent(&String::from_utf8_lossy(&bytes)) {
                Ok(Decoded::Message(message)) => return Some(message),
                // Of a newer agent, about something that this server does not know.
                Ok(Decoded::Unknown) => {}
                Err(error) => {
                    tracing::warn!(error = %error, "an agent said something that makes no sense");
                    return None;
                }
            }
        }
    }

    async fn send(&mut self, message: ToAgent) -> bool {
        self.send.send(stoker_wire::encode_to_agent(&message).into_bytes()).await.is_ok()
    }
}
