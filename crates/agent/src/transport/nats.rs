//! NATS transport: sessions with any server of the group, and durable publication of results, which needs no
//! server.

use std::sync::Arc;
use std::time::Duration;

use stoker_bus::{
    Bus, BusError, NatsAuth, NatsBus, NatsError, NatsOptions, Pipe, PipeSettings, Subject, SubjectError,
    UserKeys,
};
use stoker_engine::session::{AttemptResult, FromAgent, ToAgent};
use stoker_model::{AgentUid, ErrorChain};
use stoker_wire::nats::{
    NatsUserCredentials, SessionRequest, USER_PATH, inbound_subject, inbox_prefix, outbound_subject,
    result_message_id, result_subject, session_request_subject,
};
use stoker_wire::{Decoded, TO_AGENT_BYTES_MAX, decode_to_agent, encode_from_agent};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{Connection, QUEUE, TransportError};
use crate::backoff::{Backoff, BackoffLimits};
use crate::endpoint::Endpoint;
use crate::http::{HttpError, Reply, post};
use crate::result_queue::ResultQueue;

/// Timeout for the NATS connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum time for a server to accept a session.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// Keep-alive settings of a session. After this silence the agent opens a session with another server.
const PIPE: PipeSettings = PipeSettings {
    // Publishing without a subscriber fails immediately, so a killed server is detected within one ping
    // interval.
    ping_interval: Duration::from_secs(5),
    silence_timeout: Duration::from_secs(25),
    bytes_max: TO_AGENT_BYTES_MAX,
};
/// Minimum interval between renewals of the NATS user, and delay after a failed one.
const RENEW_INTERVAL_MIN: Duration = Duration::from_mins(1);
/// Backoff between attempts to publish a result.
const PUBLISH_BACKOFF: BackoffLimits =
    BackoffLimits { min: Duration::from_millis(250), max: Duration::from_secs(15) };

/// Error while opening a session over NATS.
#[derive(Debug, thiserror::Error)]
enum NatsSessionError {
    #[error("cannot request a NATS user from {server}")]
    User { server: String, source: HttpError },
    #[error("{server} refused a NATS user: {reason}")]
    UserRefused { server: String, reason: String },
    #[error("malformed response from {server}")]
    Malformed { server: String, source: serde_json::Error },
    #[error("cannot connect to NATS")]
    Connect(#[from] NatsError),
    #[error("not connected to NATS: it is unavailable or rejects this agent")]
    Away,
    #[error("cannot read random bytes")]
    Random(#[from] getrandom::Error),
    #[error("invalid NATS subject")]
    Subject(#[from] SubjectError),
    #[error("cannot call a server over NATS")]
    Call(#[from] BusError),
    #[error("no server accepted the session over NATS")]
    NoServer,
}

pub struct NatsTransport {
    endpoint: Endpoint,
    credential: String,
    node: AgentUid,
    options: NatsOptions,
    connection: Option<Arc<NatsConnection>>,
    /// Most recent NATS connection, for publishing results. NATS reconnects on its own, also while no session
    /// is open.
    last_connection: watch::Sender<Option<Arc<NatsConnection>>>,
    results: ResultQueue,
}

/// NATS connection whose user credentials are renewed until it is dropped.
struct NatsConnection {
    bus: Bus,
    key: String,
    renewing: JoinHandle<()>,
}

impl Drop for NatsConnection {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

impl NatsTransport {
    /// Fails for an invalid NATS address. The server issues the user credentials later.
    pub fn new(
        endpoint: Endpoint,
        credential: String,
        node: AgentUid,
        options: NatsOptions,
    ) -> Result<Self, NatsError> {
        options.check()?;
        let (last_connection, connections) = watch::channel(None);
        let results = ResultQueue::default();
        // Ends when `last_connection` is dropped.
        tokio::spawn(publish_results(results.clone(), connections, node.clone()));
        Ok(Self { endpoint, credential, node, options, connection: None, last_connection, results })
    }

    pub(super) fn results(&self) -> ResultQueue {
        self.results.clone()
    }

    pub(super) async fn open(&mut self) -> Result<Connection, TransportError> {
        let connection = if let Some(connection) = self.connection.take() {
            connection
        } else {
            let connection = Arc::new(self.connect().await.map_err(TransportError::unavailable)?);
            self.last_connection.send_replace(Some(Arc::clone(&connection)));
            connection
        };
        let opened = open_session(&connection, &self.node).await;
        // If NATS rejects the user, it may have been revoked; the next attempt requests a new one.
        if connection.bus.is_connected() {
            self.connection = Some(connection);
        }
        opened.map_err(TransportError::unavailable)
    }

    /// Requests a NATS user from the server and connects to NATS with it.
    async fn connect(&self) -> Result<NatsConnection, NatsSessionError> {
        let NatsUserCredentials { jwt, seed, key, expires_in_seconds } =
            request_user(&self.endpoint, &self.credential).await?;
        let keys = UserKeys::new(jwt, seed);
        let options = NatsOptions {
            auth: NatsAuth::Keys(keys.clone()),
            name: format!("stoker agent {}", self.node),
            inbox: Some(inbox_prefix(&self.node, &key)),
            ..self.options.clone()
        };
        let nats = NatsBus::connect(&options).await?;
        let renewing = renew(self.endpoint.clone(), self.credential.clone(), keys, expires_in_seconds);
        Ok(NatsConnection { bus: Bus::Nats(nats), key, renewing: tokio::spawn(renewing) })
    }
}

/// Publishes queued results until the transport is dropped.
async fn publish_results(
    results: ResultQueue,
    mut connections: watch::Receiver<Option<Arc<NatsConnection>>>,
    node: AgentUid,
) {
    let mut backoff = Backoff::new(PUBLISH_BACKOFF);
    let mut is_reported = false;
    loop {
        let finished = tokio::select! {
            finished = results.first() => finished,
            changed = connections.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return,
            },
        };
        let (key, connection) = (finished.key, connections.borrow().clone());
        let published = match &connection {
            Some(connection) => publish(connection, &node, finished).await,
            None => Err(BusError::Unavailable("not connected to NATS yet".into())),
        };
        let Err(error) = published else {
            tracing::debug!(attempt.key = %key, "result published to NATS");
            results.remove(&[key]);
            backoff.reset();
            is_reported = false;
            continue;
        };
        if !std::mem::replace(&mut is_reported, true) {
            tracing::info!(why = %ErrorChain(&error), "cannot publish results to NATS; they stay in the journal");
        }
        tokio::time::sleep(backoff.next()).await;
    }
}

async fn publish(
    connection: &NatsConnection,
    node: &AgentUid,
    finished: AttemptResult,
) -> Result<(), BusError> {
    let invalid = |error: SubjectError| BusError::DurableUnavailable(ErrorChain(&error).to_string());
    let subject = Subject::new(result_subject(node, &connection.key)).map_err(invalid)?;
    let id = result_message_id(&connection.key, finished.key);
    connection
        .bus
        .publish_durable(&subject, &id, encode_from_agent(&FromAgent::Finished(finished)).into_bytes())
        .await
}

/// Opens a session with a server that accepts the call.
async fn open_session(connection: &NatsConnection, node: &AgentUid) -> Result<Connection, NatsSessionError> {
    let deadline = Instant::now() + CONNECT_TIMEOUT;
    while !connection.bus.is_connected() {
        if Instant::now() > deadline {
            return Err(NatsSessionError::Away);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let session_id = format!("{:016x}", getrandom::u64()?);
    let subject = |words: &[&str]| Subject::new(words.iter().copied());
    let inbound = subject(&inbound_subject(node, &connection.key, &session_id))?;
    let outbound = subject(&outbound_subject(node, &connection.key, &session_id))?;
    let call_subject = subject(&session_request_subject(node, &connection.key))?;
    let request = SessionRequest { session_id }.encode();
    let opened =
        Pipe::connect(connection.bus.clone(), &call_subject, request, outbound, inbound, PIPE, CALL_TIMEOUT)
            .await;
    let pipe = opened?.ok_or(NatsSessionError::NoServer)?;
    let (received, receive) = mpsc::channel(QUEUE);
    let (send, sending) = mpsc::channel(QUEUE);
    tokio::spawn(transfer(pipe, received, sending));
    Ok(Connection { send, receive })
}

/// Forwards messages in both directions until either side closes.
async fn transfer(pipe: Pipe, received: mpsc::Sender<ToAgent>, mut sending: mpsc::Receiver<FromAgent>) {
    let (bytes_in, mut incoming) = mpsc::channel::<Vec<u8>>(1);
    let (outgoing, bytes_out) = mpsc::channel(1);
    let reading = async {
        while let Some(bytes) = incoming.recv().await {
            match decode_to_agent(&String::from_utf8_lossy(&bytes)) {
                Ok(Decoded::Message(message)) => {
                    if received.send(message).await.is_err() {
                        return;
                    }
                }
                Ok(Decoded::Unknown) => {}
                Err(error) => tracing::warn!(error = %ErrorChain(&error), "ignored a malformed message"),
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
        let mut transferring = std::pin::pin!(pipe.run(bytes_in, bytes_out));
        let codec = async { tokio::join!(reading, writing) };
        tokio::select! {
            ended = &mut transferring => ended,
            // Lets the pipe notify the other side that the session has ended.
            _ = codec => transferring.await,
        }
    };
    tracing::debug!(?ended, "NATS session ended");
}

async fn request_user(
    endpoint: &Endpoint,
    credential: &str,
) -> Result<NatsUserCredentials, NatsSessionError> {
    let server = endpoint.to_string();
    match post(endpoint, USER_PATH, Some(credential), Vec::new()).await {
        Reply::Success(body) => {
            serde_json::from_slice(&body).map_err(|source| NatsSessionError::Malformed { server, source })
        }
        Reply::Unavailable(source) => Err(NatsSessionError::User { server, source }),
        Reply::Refused(reason) => Err(NatsSessionError::UserRefused { server, reason }),
    }
}

/// Renews the user credentials after half of their lifetime.
async fn renew(endpoint: Endpoint, credential: String, keys: UserKeys, expires_in_seconds: u64) {
    let mut pause = Duration::from_secs(expires_in_seconds / 2);
    loop {
        tokio::time::sleep(pause).await;
        pause = match request_user(&endpoint, &credential).await {
            Ok(user) => {
                let pause = Duration::from_secs(user.expires_in_seconds / 2);
                keys.replace(user.jwt, user.seed);
                pause.max(RENEW_INTERVAL_MIN)
            }
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "cannot renew the NATS user; will retry");
                RENEW_INTERVAL_MIN
            }
        };
    }
}
