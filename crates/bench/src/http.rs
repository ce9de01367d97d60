//! Minimal HTTP client over real sockets.

use std::error::Error;

use stoker_model::Json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

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
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(8192) })
    }

    /// Sends the request and returns the body of its successful response.
    pub(crate) async fn call(&mut self, request: &[u8]) -> Result<Vec<u8>, Failure> {
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
