//! Ten thousand agents at one server: each joins, connects, says hello and stays.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::json;
use stoker_engine::session::{FromAgent, Hello, ToAgent};
use stoker_model::JsonMap;
use stoker_wire::join::{JoinAnswer, PATH, SESSION_PATH};
use stoker_wire::{Decoded, decode_to_agent, encode_from_agent};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::load::{Failure, once, request};
use crate::row::{Limit, Row};
use crate::server::{Api as _, Process};

const N_AGENTS: usize = 10_000;
/// At once.
const N_JOINING: usize = 64;
/// Long enough for a heartbeat of each.
const STAY: Duration = Duration::from_secs(15);
const HEARTBEAT: Duration = Duration::from_secs(10);
const MEMORY_MIB_MAX: f64 = 1024.0;
const CONNECT_SECONDS_MAX: f64 = 30.0;

type Socket = WebSocketStream<TcpStream>;

pub(super) async fn measure(program: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    if most < N_AGENTS as u64 + 1000 {
        return Err(format!("{N_AGENTS} sessions need as many open files; the limit is {most}").into());
    }
    let server = Process::start(program).await?;
    let remote = server.log_in().await?;
    let token = remote.json("POST", "/api/v1/join_tokens", Some(&json!({}))).await?["token"].clone();
    let before = server.resident_mib()?;
    let members = join_all(&server.address, token.as_str().unwrap_or_default()).await?;
    let since = Instant::now();
    let sockets = connect_all(&server.address, members).await?;
    let connecting = since.elapsed().as_secs_f64();
    let mut staying = tokio::task::JoinSet::new();
    for socket in sockets {
        staying.spawn(stay(socket));
    }
    let mut most: f64 = 0.0;
    while !staying.is_empty() {
        most = most.max(server.resident_mib()?);
        let ended = tokio::time::timeout(Duration::from_secs(1), staying.join_next()).await;
        if let Ok(Some(ended)) = ended {
            ended?.map_err(|error| error.to_string())?;
        }
    }
    Ok(vec![
        Row::new("memory of a server that nobody uses", before, "MiB", Limit::AtMost(128.0)),
        Row::new(
            format!("the same with {N_AGENTS} agents connected"),
            most,
            "MiB",
            Limit::AtMost(MEMORY_MIB_MAX),
        ),
        Row::new(
            format!("until {N_AGENTS} agents are connected again"),
            connecting,
            "s",
            Limit::AtMost(CONNECT_SECONDS_MAX),
        ),
    ])
}

/// Runs something for each of many, some at a time.
async fn for_each<I, O, F>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> F,
) -> Result<Vec<O>, Box<dyn Error>>
where
    O: Send + 'static,
    F: Future<Output = Result<O, Failure>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(N_JOINING));
    let mut tasks = tokio::task::JoinSet::new();
    for item in items {
        let (room, work) = (Arc::clone(&room), work(item));
        tasks.spawn(async move {
            let _place = room.acquire().await?;
            work.await
        });
    }
    let mut done = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        done.push(ended?.map_err(|error| error.to_string())?);
    }
    Ok(done)
}

async fn join_all(address: &str, token: &str) -> Result<Vec<JoinAnswer>, Box<dyn Error>> {
    for_each(0..N_AGENTS, |number| {
        let body = json!({"token": token, "version": "bench", "facts": {"mac": super::mac(number)}});
        let (address, request) = (address.to_owned(), request("POST", PATH, "", Some(&body)));
        async move { Ok(serde_json::from_slice(&once(&address, &request).await?)?) }
    })
    .await
}

async fn connect_all(address: &str, members: Vec<JoinAnswer>) -> Result<Vec<Socket>, Box<dyn Error>> {
    for_each(members, |member| connect(address.to_owned(), member)).await
}

async fn connect(address: String, member: JoinAnswer) -> Result<Socket, Failure> {
    let stream = TcpStream::connect(&address).await?;
    let mut request = format!("ws://{address}{SESSION_PATH}").into_client_request()?;
    request.headers_mut().insert(AUTHORIZATION, format!("Bearer {}", member.credential).parse()?);
    // Small: all of them are in this process.
    let config = WebSocketConfig::default().read_buffer_size(1 << 10).write_buffer_size(0);
    let (mut socket, _) = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await?;
    let hello = FromAgent::Hello(Hello {
        node: member.node_uid,
        version: "bench".to_owned(),
        running: Vec::new(),
        finished: Vec::new(),
        runs: Vec::new(),
        facts: JsonMap::new(),
    });
    socket.send(Message::text(encode_from_agent(&hello))).await?;
    match socket.next().await.ok_or("the server hung up")?? {
        Message::Text(text) => match decode_to_agent(&text) {
            Ok(Decoded::Message(ToAgent::Welcome { .. })) => Ok(socket),
            _ => Err(format!("the server did not say welcome: {text}").into()),
        },
        other => Err(format!("the server did not say welcome: {other}").into()),
    }
}

/// Stays for a while, and gives signs of life.
async fn stay(mut socket: Socket) -> Result<(), Failure> {
    let until = Instant::now() + STAY;
    while Instant::now() < until {
        match tokio::time::timeout(HEARTBEAT, socket.next()).await {
            Err(_) => socket.send(Message::text(encode_from_agent(&FromAgent::Heartbeat))).await?,
            Ok(Some(Ok(_))) => {}
            Ok(_) => return Err("the server hung up".into()),
        }
    }
    Ok(())
}
