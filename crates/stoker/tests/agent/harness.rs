//! An agent process and a minimal server.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use stoker_engine::session::{Attempt, AttemptKey, FromAgent, Generation, Mode, ToAgent};
use stoker_model::{InstanceIdx, RunId};
use stoker_testkit::TempFolder;
use stoker_wire::{Decoded, decode_from_agent, encode_to_agent};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

const TIMEOUT: Duration = Duration::from_mins(1);

pub(crate) const TOKEN: &str = "join-hunter2";
const CREDENTIAL: &str = "credential-of-5";

pub(crate) async fn with_timeout<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(TIMEOUT, future).await.expect("timed out")
}

pub(crate) fn stoker() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_stoker"))
}

pub(crate) fn shell(instance: u32, cmd: &str) -> Attempt {
    Attempt {
        key: AttemptKey { run: RunId(1), instance: InstanceIdx::new(instance), attempt: 1 },
        generation: Generation(1),
        task: "a-task".to_owned(),
        node: "5".to_owned(),
        task_type: "shell".to_owned(),
        parameters: json!({"cmd": cmd}),
        mode: Mode::Normal,
        debug: false,
        timeout_ms: 30_000,
        secrets: Vec::new(),
        trace: None,
    }
}

/// Accepts joins and sessions of agents.
pub(crate) struct Server {
    listener: TcpListener,
    pub(crate) n_joined: usize,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap(), n_joined: 0 }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.listener.local_addr().unwrap())
    }

    pub(crate) fn agent(&self, folder: &TempFolder) -> Child {
        Command::new(stoker())
            .args(["agent", "--server", &self.url(), "--node", "node-5", "--state"])
            .arg(folder.file("state"))
            .env("STOKER_JOIN_TOKEN", TOKEN)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    /// Returns the next session; accepts joins in between.
    pub(crate) async fn accept(&mut self) -> Session {
        loop {
            let (stream, _) = with_timeout(self.listener.accept()).await.unwrap();
            let mut method = [0; 4];
            if stream.peek(&mut method).await.is_err() {
                continue;
            }
            if &method == b"POST" {
                self.accept_join(stream).await;
            } else if let Some(session) = Session::accept(stream).await {
                return session;
            }
        }
    }

    async fn accept_join(&mut self, mut stream: TcpStream) {
        let mut text = String::new();
        while !text.contains(TOKEN) || !text.ends_with('}') {
            let mut buffer = [0; 4096];
            let n_read = stream.read(&mut buffer).await.unwrap();
            assert!(n_read > 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&buffer[..n_read]));
        }
        let body = format!(r#"{{"node_uid": "5", "credential": "{CREDENTIAL}"}}"#);
        let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(response.as_bytes()).await.unwrap();
        self.n_joined += 1;
    }
}

/// The server side of a session with an agent.
pub(crate) struct Session {
    socket: WebSocketStream<TcpStream>,
}

impl Session {
    #[expect(clippy::result_large_err, reason = "the callback signature is given by the library")]
    async fn accept(stream: TcpStream) -> Option<Self> {
        let check = |request: &Request, response: Response| {
            let bearer = request.headers().get("authorization").and_then(|value| value.to_str().ok());
            assert_eq!(bearer, Some(format!("Bearer {CREDENTIAL}").as_str()));
            assert_eq!(request.uri().path(), "/api/v1/agents/session");
            Ok(response)
        };
        let socket = tokio_tungstenite::accept_hdr_async(stream, check).await.ok()?;
        Some(Self { socket })
    }

    /// Returns the next message, or `None` if the agent disconnected.
    pub(crate) async fn next(&mut self) -> Option<FromAgent> {
        loop {
            match with_timeout(self.socket.next()).await? {
                Ok(Message::Text(text)) => match decode_from_agent(&text).unwrap() {
                    Decoded::Message(message) => return Some(message),
                    Decoded::Unknown => panic!("{text}"),
                },
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// Sends a message; returns false if the agent disconnected.
    pub(crate) async fn send(&mut self, message: &ToAgent) -> bool {
        self.socket.send(Message::text(encode_to_agent(message))).await.is_ok()
    }
}
