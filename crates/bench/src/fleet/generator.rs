//! Agents of a whole fleet in a separate process, so that their resource usage is not attributed to the
//! server.
//!
//! Reads the network fact of the agents from standard input. Prints when all agents have joined and, at the
//! end of the input, how many tasks they executed.

use std::error::Error;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Instant, SystemTime};

use serde_json::json;
use stoker_engine::session::agent::Input;
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::{AgentUid, Json, JsonMap, Micros};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Notify, mpsc};

use crate::http::Failure;
use crate::idle::IdleAgent;
use crate::line::{Line, for_each, join, join_body, require_sockets};

pub(crate) const USAGE: &str = "fleet-agents ADDRESS TOKEN AGENTS";
/// Uid of the master.
const MASTER: &str = "master";

/// Handle of the child process.
pub(super) struct Generator {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// Standard input of the process; closing it ends the process.
    stdin: Option<ChildStdin>,
}

impl Generator {
    /// Starts the process; all agents begin to join. `scheme` is a fact that each of them reports.
    pub(super) async fn start(
        address: &str,
        token: &str,
        n_agents: usize,
        scheme: &Json,
    ) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["fleet-agents", address, token, &n_agents.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut stdin = child.stdin.take().ok_or("the agents have no standard input")?;
        stdin.write_all(format!("{scheme}\n").as_bytes()).await?;
        let stdout = child.stdout.take().ok_or("the agents have no standard output")?;
        Ok(Self { child, lines: BufReader::new(stdout).lines(), stdin: Some(stdin) })
    }

    pub(super) fn id(&self) -> Result<u32, Box<dyn Error>> {
        Ok(self.child.id().ok_or("the agents have ended")?)
    }

    /// Waits until all agents have joined and been welcomed. Returns the seconds it took.
    pub(super) async fn wait_until_joined(&mut self) -> Result<f64, Box<dyn Error>> {
        self.number("joined").await
    }

    /// Ends the process. Returns the number of executed tasks and of lost connections.
    pub(super) async fn end(mut self) -> Result<(f64, f64), Box<dyn Error>> {
        drop(self.stdin.take());
        let n_done = self.number("done").await?;
        Ok((n_done, self.number("lost").await?))
    }

    async fn number(&mut self, word: &str) -> Result<f64, Box<dyn Error>> {
        let line = self.lines.next_line().await?.ok_or("the agents have ended")?;
        let number = line.strip_prefix(word).ok_or_else(|| format!("the agents said `{line}`"))?;
        Ok(number.trim().parse()?)
    }
}

/// State shared by all agents.
struct Fleet {
    address: String,
    token: String,
    scheme: Json,
    n_welcomed: AtomicUsize,
    all_welcomed: Notify,
    n_agents: usize,
    n_done: AtomicU64,
    n_lost: AtomicUsize,
    /// Receives the first error of an agent, which ends the measurement.
    failures: mpsc::Sender<String>,
}

/// Runs the child process.
pub(crate) async fn run(words: &[String]) -> Result<(), Box<dyn Error>> {
    let [address, token, n_agents] = words else { return Err(USAGE.into()) };
    let n_agents: usize = n_agents.parse()?;
    require_sockets(n_agents)?;
    let mut input = BufReader::new(tokio::io::stdin());
    let mut scheme = String::new();
    input.read_line(&mut scheme).await?;
    let (failures, mut failure_receiver) = mpsc::channel(1);
    let fleet = Arc::new(Fleet {
        address: address.clone(),
        token: token.clone(),
        scheme: serde_json::from_str(&scheme)?,
        n_welcomed: AtomicUsize::new(0),
        all_welcomed: Notify::new(),
        n_agents: n_agents + 1,
        n_done: AtomicU64::new(0),
        n_lost: AtomicUsize::new(0),
        failures,
    });
    let since = Instant::now();
    // One more for the master, whose tasks count like all others.
    let joining = for_each(0..=n_agents, |number| Arc::clone(&fleet).begin(number.checked_sub(1)));
    tokio::select! {
        joined = joining => drop(joined?),
        Some(message) = failure_receiver.recv() => return Err(message.into()),
    }
    fleet.all_welcomed.notified().await;
    println!("joined {}", since.elapsed().as_secs_f64());
    let mut rest = Vec::new();
    input.read_to_end(&mut rest).await?;
    println!("done {}", fleet.n_done.load(Ordering::Relaxed));
    println!("lost {}", fleet.n_lost.load(Ordering::Relaxed));
    Ok(())
}

impl Fleet {
    /// Joins and connects; the session continues in the background.
    async fn begin(self: Arc<Self>, number: Option<usize>) -> Result<(), Failure> {
        let body = match number {
            Some(number) => join_body(&self.token, number),
            None => json!({"token": self.token, "version": "bench", "node": MASTER, "facts": {}}),
        };
        let member = join(self.address.clone(), body).await?;
        let line = Line::connect(&self.address, &member.credential).await?;
        tokio::spawn(async move {
            let uid = member.node_uid;
            if let Err(error) = self.run_session(uid.clone(), line).await {
                self.n_lost.fetch_add(1, Ordering::Relaxed);
                // A full queue already holds an error, and the receiver may be gone.
                let _ = self.failures.try_send(format!("agent {uid}: {error}"));
                eprintln!("agent {uid}: {error}");
            }
        });
        Ok(())
    }

    async fn run_session(&self, uid: AgentUid, mut line: Line) -> Result<(), Failure> {
        let mut agent = IdleAgent::new(uid);
        let facts = JsonMap::from_iter([("network_scheme".to_owned(), self.scheme.clone())]);
        self.step_and_send(&mut agent, &mut line, Input::Connected { facts }).await?;
        let mut next = None;
        loop {
            let heartbeat = async {
                match next {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                message = line.receive() => {
                    let message = message?;
                    if matches!(message, ToAgent::Welcome { .. }) {
                        self.count_welcome();
                    }
                    self.step_and_send(&mut agent, &mut line, Input::Message(message)).await?;
                }
                () = heartbeat => {
                    line.send(&FromAgent::Heartbeat).await?;
                    next = None;
                }
            }
            if next.is_none() {
                next = agent.heartbeat.map(|every| tokio::time::Instant::now() + every);
            }
        }
    }

    fn count_welcome(&self) {
        if self.n_welcomed.fetch_add(1, Ordering::Relaxed) + 1 == self.n_agents {
            self.all_welcomed.notify_one();
        }
    }

    async fn step_and_send(
        &self,
        agent: &mut IdleAgent,
        line: &mut Line,
        input: Input,
    ) -> Result<(), Failure> {
        let before = agent.n_done;
        for message in agent.step(input, now()) {
            line.send(&message).await?;
        }
        self.n_done.fetch_add(agent.n_done - before, Ordering::Relaxed);
        Ok(())
    }
}

fn now() -> Micros {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
