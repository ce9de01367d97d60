//! Connections of agents to a server.

use std::error::Error;
use std::sync::Arc;

use futures_util::{SinkExt as _, StreamExt as _};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::json;
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::Json;
use stoker_wire::join::{JoinAnswer, PATH, SESSION_PATH};
use stoker_wire::{Decoded, TO_AGENT_BYTES_MAX, decode_to_agent, encode_from_agent};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::load::{Failure, once, request};

/// Agents that join or connect at once.
const AT_ONCE: usize = 64;

/// The server's words to an agent, and the agent's to the server.
pub(crate) struct Line(WebSocketStream<TcpStream>);

impl Line {
    pub(crate) async fn connect(address: &str, credential: &str) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut request = format!("ws://{address}{SESSION_PATH}").into_client_request()?;
        request.headers_mut().insert(AUTHORIZATION, format!("Bearer {credential}").parse()?);
        // Small: all of them are in this process.
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
            if let Message::Text(text) = self.0.next().await.ok_or("the server hung up")?? {
                match decode_to_agent(&text) {
                    Ok(Decoded::Message(message)) => return Ok(message),
                    Ok(Decoded::Unknown) => {}
                    Err(error) => return Err(format!("the server said `{text}`: {error}").into()),
                }
            }
        }
    }
}

/// Lets this process have as many sockets as it may, and says no if these are too few.
pub(crate) fn require_sockets(n_sockets: usize) -> Result<(), Box<dyn Error>> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    if most < n_sockets as u64 + 1000 {
        return Err(format!("{n_sockets} sessions need as many open files; the limit is {most}").into());
    }
    Ok(())
}

/// Runs something for each of many, some at a time; what it gave, in their order.
pub(crate) async fn for_each<I, O, F>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> F,
) -> Result<Vec<O>, Box<dyn Error>>
where
    O: Send + 'static,
    F: Future<Output = Result<O, Failure>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = Vec::new();
    for item in items {
        let (room, work) = (Arc::clone(&room), work(item));
        tasks.push(tokio::spawn(async move {
            let _place = room.acquire().await?;
            work.await
        }));
    }
    let mut done = Vec::new();
    for task in tasks {
        done.push(task.await?.map_err(|error: Failure| error.to_string())?);
    }
    Ok(done)
}

/// An agent becomes known.
pub(crate) async fn join(address: String, body: Json) -> Result<JoinAnswer, Failure> {
    Ok(serde_json::from_slice(&once(&address, &request("POST", PATH, "", Some(&body))).await?)?)
}

/// With what the agent of a node comes in.
pub(crate) fn join_body(token: &str, number: usize) -> Json {
    json!({"token": token, "version": "bench", "facts": {"mac": mac(number)}})
}

/// The address of a network card, different for each number.
pub(crate) fn mac(number: usize) -> String {
    format!("52:54:00:{:02x}:{:02x}:{:02x}", number >> 16, number >> 8 & 0xff, number & 0xff)
}
