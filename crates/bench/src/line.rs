//! Agent connections to a server.

use std::error::Error;
use std::sync::Arc;

use futures_util::{SinkExt as _, StreamExt as _};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::json;
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::Json;
use stoker_wire::join::{JOIN_PATH, JoinResponse, SESSION_PATH};
use stoker_wire::{Decoded, TO_AGENT_BYTES_MAX, decode_to_agent, encode_from_agent};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::http::{Failure, once, request};

/// Number of agents that join or connect concurrently.
const CONCURRENCY: usize = 64;

/// WebSocket connection of one agent.
pub(crate) struct Line(WebSocketStream<TcpStream>);

impl Line {
    pub(crate) async fn connect(address: &str, credential: &str) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut request = format!("ws://{address}{SESSION_PATH}").into_client_request()?;
        request.headers_mut().insert(AUTHORIZATION, format!("Bearer {credential}").parse()?);
        // Small buffers, because all connections are in this process.
        let config = WebSocketConfig::default()
            .read_buffer_size(1 << 10)
            .write_buffer_size(0)
            .max_message_size(Some(TO_AGENT_BYTES_MAX))
            .max_frame_size(Some(TO_AGENT_BYTES_MAX));
        let (socket, _) = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await?;
        Ok(Self(socket))
    }

    pub(crate) async fn send(&mut self, message: &FromAgent) -> Result<(), Failure> {
        Ok(self.0.send(Message::text(encode_from_agent(message))).await?)
    }

    pub(crate) async fn receive(&mut self) -> Result<ToAgent, Failure> {
        loop {
            if let Message::Text(text) = self.0.next().await.ok_or("the server closed the connection")?? {
                match decode_to_agent(&text) {
                    Ok(Decoded::Message(message)) => return Ok(message),
                    Ok(Decoded::Unknown) => {}
                    Err(error) => {
                        return Err(format!("invalid message from the server `{text}`: {error}").into());
                    }
                }
            }
        }
    }
}

/// Raises the open-file limit to its maximum, and fails if it is too low.
pub(crate) fn require_sockets(n_sockets: usize) -> Result<(), Box<dyn Error>> {
    let (_, limit) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, limit, limit)?;
    if limit < n_sockets as u64 + 1000 {
        return Err(format!("{n_sockets} sessions need as many open files; the limit is {limit}").into());
    }
    Ok(())
}

/// Runs `work` for each item with bounded concurrency. Returns the results in order.
pub(crate) async fn for_each<I, O, F>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> F,
) -> Result<Vec<O>, Box<dyn Error>>
where
    O: Send + 'static,
    F: Future<Output = Result<O, Failure>> + Send + 'static,
{
    let semaphore = Arc::new(Semaphore::new(CONCURRENCY));
    let mut tasks = Vec::new();
    for item in items {
        let (semaphore, work) = (Arc::clone(&semaphore), work(item));
        tasks.push(tokio::spawn(async move {
            let _permit = semaphore.acquire().await?;
            work.await
        }));
    }
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await?.map_err(|error: Failure| error.to_string())?);
    }
    Ok(results)
}

/// Joins as an agent.
pub(crate) async fn join(address: String, body: Json) -> Result<JoinResponse, Failure> {
    Ok(serde_json::from_slice(&once(&address, &request("POST", JOIN_PATH, "", Some(&body))).await?)?)
}

/// Returns the join request of the agent of a node.
pub(crate) fn join_body(token: &str, number: usize) -> Json {
    json!({"token": token, "version": "bench", "facts": {"mac": mac(number)}})
}

/// Returns a unique MAC address for each number.
pub(crate) fn mac(number: usize) -> String {
    format!("52:54:00:{:02x}:{:02x}:{:02x}", number >> 16, number >> 8 & 0xff, number & 0xff)
}
