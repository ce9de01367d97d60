//! Test rig: an agent and the server side of its connection.

use std::time::Duration;

use serde_json::json;
use stoker_agent::transport::channel::{ServerConnection, channel_transport};
use stoker_agent::{AgentError, BackoffLimits, DriverSettings, StateFolder};
use stoker_engine::session::{
    Attempt, AttemptKey, AttemptResult, CancelMode, FromAgent, Generation, Hello, Mode, ResultKind, Stream,
    ToAgent,
};
use stoker_model::{InstanceIdx, Json, RunId};
use stoker_testkit::TempFolder;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// Timeout of every wait; longer than any operation in these tests.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct Rig {
    connections: mpsc::Receiver<ServerConnection>,
    pub(crate) connection: ServerConnection,
    stop: watch::Sender<bool>,
    agent: JoinHandle<Result<(), AgentError>>,
    pub(crate) hello: Hello,
}

pub(crate) fn settings(folder: &TempFolder) -> DriverSettings {
    let mut settings = DriverSettings::new(folder.file("state"), "1".into());
    settings.grace = Duration::from_millis(200);
    settings.backoff = BackoffLimits { min: Duration::from_millis(10), max: Duration::from_millis(50) };
    settings
}

pub(crate) fn key(instance: u32) -> AttemptKey {
    AttemptKey { run: RunId(1), instance: InstanceIdx::new(instance), attempt: 1 }
}

pub(crate) fn shell(instance: u32, cmd: &str) -> Attempt {
    attempt(instance, "shell", json!({"cmd": cmd}))
}

pub(crate) fn attempt(instance: u32, task_type: &str, parameters: Json) -> Attempt {
    Attempt {
        key: key(instance),
        generation: Generation(1),
        task: "a-task".to_owned(),
        node: "1".to_owned(),
        task_type: task_type.to_owned(),
        parameters,
        mode: Mode::Normal,
        debug: false,
        timeout_ms: 20_000,
        secrets: Vec::new(),
        trace: None,
    }
}

impl Rig {
    pub(crate) async fn start(settings: DriverSettings) -> Self {
        let (transport, mut connections) = channel_transport();
        let (stop, stopped) = watch::channel(false);
        let folder = StateFolder::open(&settings.state).unwrap();
        let agent = tokio::spawn(stoker_agent::run(settings, folder, transport, stopped));
        let mut connection = with_timeout(connections.recv()).await.unwrap();
        let hello = first(&mut connection).await;
        Self { connections, connection, stop, agent, hello }
    }

    /// Drops the connection and waits for the next one.
    pub(crate) async fn reconnect(&mut self) {
        let (send, _) = mpsc::channel(1);
        let (_, receive) = mpsc::channel(1);
        drop(std::mem::replace(&mut self.connection, ServerConnection { send, receive }));
        self.connection = with_timeout(self.connections.recv()).await.unwrap();
        self.hello = first(&mut self.connection).await;
    }

    pub(crate) async fn send(&self, message: ToAgent) {
        self.connection.send.send(message).await.unwrap();
    }

    pub(crate) async fn begin(&self, attempt: Attempt) {
        self.send(ToAgent::Start(attempt)).await;
    }

    pub(crate) async fn cancel(&self, instance: u32) {
        let key = key(instance);
        self.send(ToAgent::Cancel { key, generation: Generation(1), how: CancelMode::Now }).await;
    }

    pub(crate) async fn next(&mut self) -> FromAgent {
        with_timeout(self.connection.receive.recv()).await.expect("connection closed by the agent")
    }

    /// Waits for the result of an attempt; returns it and the standard output before it.
    pub(crate) async fn finished(&mut self, key: AttemptKey) -> (AttemptResult, String) {
        let mut printed = String::new();
        loop {
            match self.next().await {
                FromAgent::Finished(finished) if finished.key == key => return (finished, printed),
                FromAgent::Output { key: of, stream: Stream::Out, text, .. } if of == key => {
                    printed.push_str(&text);
                }
                _ => {}
            }
        }
    }

    pub(crate) async fn end_of(&mut self, attempt: Attempt) -> ResultKind {
        let key = attempt.key;
        self.begin(attempt).await;
        self.finished(key).await.0.end
    }

    /// Waits until the attempt has printed `expected`.
    pub(crate) async fn printed(&mut self, key: AttemptKey, expected: &str) {
        let mut printed = String::new();
        while !printed.contains(expected) {
            match self.next().await {
                FromAgent::Output { key: of, text, .. } if of == key => printed.push_str(&text),
                FromAgent::Finished(finished) if finished.key == key => panic!("it ended: {finished:?}"),
                _ => {}
            }
        }
    }

    /// Stops the agent and waits for its end.
    pub(crate) async fn stop(self) {
        self.stop.send(true).unwrap();
        with_timeout(self.agent).await.unwrap().unwrap();
    }
}

async fn first(connection: &mut ServerConnection) -> Hello {
    match with_timeout(connection.receive.recv()).await {
        Some(FromAgent::Hello(hello)) => hello,
        other => panic!("the first message is {other:?}"),
    }
}

pub(crate) async fn with_timeout<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(TIMEOUT, future).await.expect("timed out")
}

pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

impl Rig {
    /// Returns the result of an attempt, from the `hello` or from a later message.
    pub(crate) async fn end_after_restart(&mut self, instance: u32) -> ResultKind {
        let key = key(instance);
        match self.hello.finished.iter().find(|finished| finished.key == key) {
            Some(finished) => finished.end.clone(),
            None => self.finished(key).await.0.end,
        }
    }
}
