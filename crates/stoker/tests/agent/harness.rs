//! An agent process, and the least that a server is.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use stoker_engine::session::{Attempt, AttemptKey, FromAgent, Generation, Mode, ToAgent};
use stoker_model::RunId;
use stoker_testkit::Folder;
use stoker_wire::{Decoded, decode_from_agent, encode_to_agent};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) const TOKEN: &str = "join-hunter2";
const CREDENTIAL: &str = "credential-of-5";

pub(crate) async fn patient<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing happens")
}

pub(crate) fn stoker() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_stoker"))
}

pub(crate) fn shell(instance: u32, cmd: &str) -> Attempt {
    Attempt {
        key: AttemptKey { run: RunId(1), instance, attempt: 1 },
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

/// Lets agents join and connect.
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

    pub(crate) fn agent(&self, folder: &Folder) -> Child {
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

    /// The next session; joins on the way are granted.
    pub(crate) async fn accept(&mut self) -> Session {
        loop {
            let (stream, _) = patient(self.listener.accept()).await.unwrap();
            let mut first = [0; 4];
            if stream.peek(&mut first).await.is_err() {
                continue;
            }
            if &first == b"POST" {
                self.grant(stream).await;
            } else if let Some(session) = Session::accept(stream).await {
                return session;
            }
        }
    }

    async fn grant(&mut self, mut stream: TcpStream) {
        let mut text = String::new();
        while !text.contains(TOKEN) || !text.ends_with('}') {
            let mut buffer = [0; 4096];
            let n_read = stream.read(&mut buffer).await.unwrap();
            assert!(n_read > 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&buffer[..n_read]));
        }
        let body = format!(r#"{{"node_uid": "5", "credential": "{CREDENTIAL}"}}"#);
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await.unwrap();
        self.n_joined += 1;
    }
}

/// A connected agent.
pub(crate) struct Session {
    socket: WebSocketStream<TcpStream>,
}

impl Session {
    #[expect(clippy::result_large_err, reason = "the library wants it so")]
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

    /// `None` when the agent is gone.
    pub(crate) async fn next(&mut self) -> Option<FromAgent> {
        loop {
            match patient(self.socket.next()).await? {
                Ok(Message::Text(text)) => match decode_from_agent(&text).unwrap() {
                    Decoded::Message(message) => return Some(message),
                    Decoded::Unknown => panic!("{text}"),
                },
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// Whether it could be sent.
    pub(crate) async fn send(&mut self, message: &ToAgent) -> bool {
        self.socket.send(Message::text(encode_to_agent(message))).await.is_ok()
    }
}
