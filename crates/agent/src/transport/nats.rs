//! Through NATS, to whichever server takes the call; and what NATS keeps of results, whether one does or not.

use std::sync::Arc;
use std::time::Duration;

use stoker_bus::{
    Bus, BusError, Nats, NatsAuth, NatsError, NatsOptions, Pipe, PipeSettings, Subject, UserKeys,
};
use stoker_engine::session::{Finished, FromAgent, ToAgent};
use stoker_wire::nats::{Call, USER_PATH, UserAnswer, call, inbox, into, out, result, result_id};
use stoker_wire::{Decoded, TO_AGENT_BYTES_MAX, decode_to_agent, encode_from_agent};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{Connection, QUEUE, TransportError};
use crate::ask::{Asked, ask};
use crate::backoff::Backoff;
use crate::endpoint::Endpoint;
use crate::keeping::Keeping;

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
/// Pauses between attempts to have a result kept.
const KEEP_AGAIN: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(15));

pub struct NatsTransport {
    endpoint: Endpoint,
    credential: String,
    node: String,
    options: NatsOptions,
    line: Option<Arc<Line>>,
    /// The last one there was, for those who need no server: it may come back by itself.
    last_line: watch::Sender<Option<Arc<Line>>>,
    keeping: Keeping,
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
        let (last_line, lines) = watch::channel(None);
        let keeping = Keeping::default();
        // Ends with the last sender of lines.
        tokio::spawn(keep_all(keeping.clone(), lines, node.clone()));
        Ok(Self { endpoint, credential, node, options, line: None, last_line, keeping })
    }

    pub(super) fn keeping(&self) -> Keeping {
        self.keeping.clone()
    }

    pub(super) async fn open(&mut self) -> Result<Connection, TransportError> {
        let line = if let Some(line) = self.line.take() {
            line
        } else {
            let line = Arc::new(self.enter().await?);
            self.last_line.send_replace(Some(Arc::clone(&line)));
            line
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
            inbox: Some(inbox(&self.node, &key)),
            ..self.options.clone()
        };
        let nats = Nats::connect(&options).await.map_err(|error| TransportError::Away(error.to_string()))?;
        let renewing = renew(self.endpoint.clone(), self.credential.clone(), keys, expires_in_seconds);
        Ok(Line { bus: Bus::Nats(nats), key, renewing: tokio::spawn(renewing) })
    }
}

/// Has results kept by NATS as long as there is somebody who goes there.
async fn keep_all(keeping: Keeping, mut lines: watch::Receiver<Option<Arc<Line>>>, node: String) {
    let mut backoff = Backoff::new(KEEP_AGAIN);
    let mut is_told = false;
    loop {
        let finished = tokio::select! {
            finished = keeping.first() => finished,
            changed = lines.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return,
            },
        };
        let (key, line) = (finished.key, lines.borrow().clone());
        let kept = match &line {
            Some(line) => keep(line, &node, finished).await,
            None => Err(BusError::Away("this agent was not let in yet".to_owned())),
        };
        let Err(error) = kept else {
            tracing::debug!(attempt.key = %key, "NATS keeps the result");
            keeping.settled(&[key]);
            backoff.reset();
            is_told = false;
            continue;
        };
        if !std::mem::replace(&mut is_told, true) {
            tracing::info!(why = %error, "NATS does not keep results; the journal does");
        }
        tokio::time::sleep(backoff.next()).await;
    }
}

async fn keep(line: &Line, node: &str, finished: Finished) -> Result<(), BusError> {
    let wrong = |error: stoker_bus::SubjectError| BusError::Unkept(error.to_string());
    let subject = Subject::new(result(node, &line.key)).map_err(wrong)?;
    let id = result_id(&line.key, finished.key);
    line.bus.keep(&subject, &id, encode_from_agent(&FromAgent::Finished(finished)).into_bytes()).await
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
