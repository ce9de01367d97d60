//! Requests per second over real sockets.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stoker_model::Json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::row::{Limit, Row};
use crate::server::{Process, login, token};

const N_CONNECTIONS: usize = 64;
const DURATION: Duration = Duration::from_secs(5);
const REQUESTS_MIN: f64 = 10_000.0;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

pub(crate) async fn measure(program: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let started = Instant::now();
    let server = Process::start(program).await?;
    let start_up = started.elapsed();
    let answer = once(&server.address, &request("POST", "/keystone/v2.0/tokens", "", Some(&login()))).await;
    let token = token(&answer.map_err(|error| error.to_string())?)?;
    let read = Arc::new(request("GET", "/api/v1/tenants/1", &token, None));
    let per_second = rate(&server.address, &read).await.map_err(|error| error.to_string())?;
    Ok(vec![
        Row::new("start on an empty directory", start_up.as_secs_f64() * 1000.0, "ms", Limit::AtMost(1000.0)),
        Row::new(
            format!("authenticated reads, {N_CONNECTIONS} connections"),
            per_second,
            "a second",
            Limit::AtLeast(REQUESTS_MIN),
        ),
    ])
}

async fn rate(address: &str, request: &Arc<Vec<u8>>) -> Result<f64, Failure> {
    let (n_answers, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let started = Instant::now();
    let mut connections = tokio::task::JoinSet::new();
    for _ in 0..N_CONNECTIONS {
        let mut connection = Connection::open(address).await?;
        let (request, n_answers, is_over) =
            (Arc::clone(request), Arc::clone(&n_answers), Arc::clone(&is_over));
        connections.spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                connection.call(&request).await?;
                n_answers.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<(), Failure>(())
        });
    }
    tokio::time::sleep(DURATION).await;
    is_over.store(true, Ordering::Relaxed);
    while let Some(ended) = connections.join_next().await {
        ended??;
    }
    Ok(n_answers.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64())
}

pub(crate) async fn once(address: &str, request: &[u8]) -> Result<Vec<u8>, Failure> {
    Connection::open(address).await?.call(request).await
}

pub(crate) fn request(method: &str, path: &str, token: &str, body: Option<&Json>) -> Vec<u8> {
    let body = body.map(Json::to_string).unwrap_or_default();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: bench\r\nx-auth-token: {token}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Keep-alive connection with a minimal HTTP parser: a full client would take a considerable share of the CPU
/// that the server should have.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: &str) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(8192) })
    }

    /// Sends the request and returns the body of its successful response.
    async fn call(&mut self, request: &[u8]) -> Result<Vec<u8>, Failure> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err("the server closed the connection".into());
            }
            let Some(head_len) = find(&self.buffer, b"\r\n\r\n") else { continue };
            let head = std::str::from_utf8(&self.buffer[..head_len])?;
            if !head.starts_with("HTTP/1.1 2") {
                return Err(head.to_owned().into());
            }
            let body_len = content_length(head).ok_or("a response without content length")?;
            let body = &self.buffer[head_len + 4..];
            if body.len() >= body_len {
                return Ok(body[..body_len].to_vec());
            }
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn content_length(head: &str) -> Option<usize> {
    head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok())
}
