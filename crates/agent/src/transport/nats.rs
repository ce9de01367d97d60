//! Through NATS, to whichever server takes the call.

use std::time::Duration;

use stoker_bus::{Bus, Nats, NatsAuth, NatsError, NatsOptions, Pipe, PipeSettings, Subject, UserKeys};
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_wire::nats::{Call, USER_PATH, UserAnswer, call, into, out};
use stoker_wire::{Decoded, TO_AGENT_BYTES_MAX, decode_to_agent, encode_from_agent};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{Connection, QUEUE, TransportError};
use crate::ask::{Asked, ask};
use crate::endpoint::Endpoint;

/// How long NATS may take to let us in.
const UP_MAX: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// How long a server may take to answer a call.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// A server that says nothing for so long is gone; another takes the next call.
const PIPE: PipeSettings = PipeSettings {
    // What is said to nobody is told at once, so this is also how long it takes to miss a server that was killed.
    ping_every: Duration::from_secs(5),
    silence_max: Duration::from_secs(25),
    bytes_max: TO_AGENT_BYTES_MAX,
};
/// Between attempts to get a new user in time.
const RENEW_AGAIN: Duration = Duration::from_mins(1);

pub struct NatsTransport {
    endpoint: Endpoint,
    credential: String,
    node: String,
    options: NatsOptions,
    line: Option<Line>,
}

/// A connection to NATS, under a user that is renewed as long as this lives.
struct Line {
    bus: Bus,
    key: String,
    renewing: JoinHandle<()>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

impl NatsTransport {
    /// Users of NATS are given out by the server. Fails for an address that is none.
    pub fn new(
        endpoint: Endpoint,
        credential: String,
        node: String,
        options: NatsOptions,
    ) -> Result<Self, NatsError> {
        options.check()?;
        Ok(Self { endpoint, credential, node, options, line: None })
    }

    pub(super) async fn open(&mut self) -> Result<Connection, TransportError> {
        let line = match self.line.take() {
            Some(line) => line,
            None => self.enter().await?,
        };
        let opened = converse(&line, &self.node).await;
        // A user that is not let in may have been taken back; the next attempt asks for another.
        if line.bus.is_up() {
            self.line = Some(line);
        }
        opened
    }

    /// Asks the server for a user and goes to NATS with it.
    async fn enter(&self) -> Result<Line, TransportError> {
        let UserAnswer { jwt, seed, key, expires_in_seconds } =
            ask_user(&self.endpoint, &self.credential).await.map_err(TransportError::Away)?;
        let keys = UserKeys::new(jwt, seed);
        let options = NatsOptions {
            auth: NatsAuth::Keys(keys.clone()),
            name: format!("stoker agent {}", self.node),
            ..self.options.clone()
        };
        let nats = Nats::connect(&options).await.map_err(|error| TransportError::Away(error.to_string()))?;
        let renewing = renew(self.endpoint.clone(), self.credential.clone(), keys, expires_in_seconds);
        Ok(Line { bus: Bus::Nats(nats), key, renewing: tokio::spawn(renewing) })
    }
}

/// Finds a server that takes the call.
async fn converse(line: &Line, node: &str) -> Result<Connection, TransportError> {
    let away = |reason: &str| TransportError::Away(format!("NATS: {reason}"));
    let deadline = Instant::now() + UP_MAX;
    while !line.bus.is_up() {
        if Instant::now() > deadline {
            return Err(away("it is away, or does not let this agent in"));
        }
        tokio::time::sleep(LOOK).await;
    }
    let conversation = format!("{:016x}", getrandom::u64().map_err(|error| away(&error.to_string()))?);
    let subject =
        |words: &[&str]| Subject::new(words.iter().copied()).map_err(|error| away(&error.to_string()));
    let here = subject(&into(node, &line.key, &conversation))?;
    let to = subject(&out(node, &line.key, &conversation))?;
    let door = subject(&call(node, &line.key))?;
    let word = Call { conversation }.encode();
    let called = Pipe::call(line.bus.clone(), &door, word, (to, here), PIPE, ANSWER_MAX).await;
    let pipe = called.map_err(|error| away(&error.to_string()))?;
    let pipe = pipe.ok_or_else(|| away("no server answers"))?;
    let (received, receive) = mpsc::channel(QUEUE);
    let (send, sending) = mpsc::channel(QUEUE);
    tokio::spawn(carry(pipe, received, sending));
    Ok(Connection { send, receive })
}

/// Carries messages until one side is gone.
async fn carry(pipe: Pipe, received: mpsc::Sender<ToAgent>, mut sending: mpsc::Receiver<FromAgent>) {
    let (pieces_in, mut incoming) = mpsc::channel::<Vec<u8>>(1);
    let (outgoing, pieces_out) = mpsc::channel(1);
    let reading = async {
        while let Some(bytes) = incoming.recv().await {
            match decode_to_agent(&String::from_utf8_lossy(&bytes)) {
                Ok(Decoded::Message(message)) => {
                    if received.send(message).await.is_err() {
                        return;
                    }
                }
                Ok(Decoded::Unknown) => {}
                Err(error) => tracing::warn!(%error, "a message was not understood"),
            }
        }
    };
    let writing = async move {
        while let Some(message) = sending.recv().await {
            if outgoing.send(encode_from_agent(&message).into_bytes()).await.is_err() {
                return;
            }
        }
    };
    let ended = {
        let mut carrying = std::pin::pin!(pipe.carry(pieces_in, pieces_out));
        let beside = async { tokio::join!(reading, writing) };
        tokio::select! {
            ended = &mut carrying => ended,
            // Whoever is on the other side is still told.
            _ = beside => carrying.await,
        }
    };
    tracing::debug!(?ended, "a conversation over NATS is over");
}

async fn ask_user(endpoint: &Endpoint, credential: &str) -> Result<UserAnswer, String> {
    match ask(endpoint, USER_PATH, Some(credential), Vec::new()).await {
        Asked::Answer(body) => {
            serde_json::from_slice(&body).map_err(|error| format!("{endpoint}: {error} in its answer"))
        }
        Asked::Away(reason) => Err(format!("no user of NATS from {endpoint}: {reason}")),
        Asked::Refused(reason) => Err(format!("{endpoint} gives no user of NATS: {reason}")),
    }
}

/// Gets a new user when half of the life of the last one is over.
async fn renew(endpoint: Endpoint, credential: String, keys: UserKeys, expires_in_seconds: u64) {
    let mut pause = Duration::from_secs(expires_in_seconds / 2);
    loop {
        tokio::time::sleep(pause).await;
        pause = match ask_user(&endpoint, &credential).await {
            Ok(user) => {
                let pause = Duration::from_secs(user.expires_in_seconds / 2);
                keys.replace(user.jwt, user.seed);
                pause.max(RENEW_AGAIN)
            }
            Err(why) => {
                tracing::warn!(why, "the user of NATS was not renewed");
                RENEW_AGAIN
            }
        };
    }
}
