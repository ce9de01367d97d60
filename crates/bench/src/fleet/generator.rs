//! Agents of a whole fleet in one process, apart from the server, so that what the server uses can be told from what
//! they use.
//!
//! Told on standard input what each of them says of its network; says on standard output when all have joined, and at the
//! end of its input how many tasks they did.

use std::error::Error;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Instant, SystemTime};

use serde_json::json;
use stoker_engine::session::agent::Input;
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::{Json, JsonMap, Micros};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Notify, mpsc};

use crate::idle::IdleAgent;
use crate::line::{Line, for_each, join, join_body, require_sockets};
use crate::load::Failure;

pub(crate) const USAGE: &str = "fleet-agents ADDRESS TOKEN AGENTS";
/// The node on which the server runs.
const MASTER: &str = "master";

/// What the process says, as its parent reads it.
pub(super) struct Generator {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// Closed, it ends the process.
    stdin: Option<ChildStdin>,
}

impl Generator {
    /// Starts it; every agent begins to join at once. `scheme` is a fact that each of them tells.
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

    /// Waits until all have joined and were welcomed: for how many seconds.
    pub(super) async fn joined(&mut self) -> Result<f64, Box<dyn Error>> {
        self.number("joined").await
    }

    /// Ends it: how many tasks were done, and how many connections were lost on the way.
    pub(super) async fn end(mut self) -> Result<(f64, f64), Box<dyn Error>> {
        drop(self.stdin.take());
        let done = self.number("done").await?;
        Ok((done, self.number("lost").await?))
    }

    async fn number(&mut self, word: &str) -> Result<f64, Box<dyn Error>> {
        let line = self.lines.next_line().await?.ok_or("the agents have ended")?;
        let number = line.strip_prefix(word).ok_or_else(|| format!("the agents said `{line}`"))?;
        Ok(number.trim().parse()?)
    }
}

/// What all agents share.
struct Fleet {
    address: String,
    token: String,
    scheme: Json,
    n_welcomed: AtomicUsize,
    all_welcomed: Notify,
    n_agents: usize,
    n_done: AtomicU64,
    n_lost: AtomicUsize,
    /// Hears of agents that broke off.
    broken: mpsc::UnboundedSender<String>,
}

/// The process itself.
pub(crate) async fn run(words: &[String]) -> Result<(), Box<dyn Error>> {
    let [address, token, n_agents] = words else { return Err(USAGE.into()) };
    let n_agents: usize = n_agents.parse()?;
    require_sockets(n_agents)?;
    let mut input = BufReader::new(tokio::io::stdin());
    let mut scheme = String::new();
    input.read_line(&mut scheme).await?;
    let (broken, mut breaks) = mpsc::unbounded_channel();
    let fleet = Arc::new(Fleet {
        address: address.clone(),
        token: token.clone(),
        scheme: serde_json::from_str(&scheme)?,
        n_welcomed: AtomicUsize::new(0),
        all_welcomed: Notify::new(),
        n_agents: n_agents + 1,
        n_done: AtomicU64::new(0),
        n_lost: AtomicUsize::new(0),
        broken,
    });
    let since = Instant::now();
    // One more for the master, whose tasks are tasks like all others.
    let joining = for_each(0..=n_agents, |number| Arc::clone(&fleet).begin(number.checked_sub(1)));
    tokio::select! {
        joined = joining => drop(joined?),
        Some(message) = breaks.recv() => return Err(message.into()),
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
    /// Joins and connects; goes on beside.
    async fn begin(self: Arc<Self>, number: Option<usize>) -> Result<(), Failure> {
        let body = match number {
            Some(number) => join_body(&self.token, number),
            None => json!({"token": self.token, "version": "bench", "node": MASTER, "facts": {}}),
        };
        let member = join(self.address.clone(), body).await?;
        let line = Line::connect(&self.address, &member.credential).await?;
        tokio::spawn(async move {
            let uid = member.node_uid;
            if let Err(error) = self.talk(uid.clone(), line).await {
                self.n_lost.fetch_add(1, Ordering::Relaxed);
                // Nobody may listen any more.
                let _ = self.broken.send(format!("agent {uid}: {error}"));
                eprintln!("agent {uid}: {error}");
            }
        });
        Ok(())
    }

    async fn talk(&self, uid: String, mut line: Line) -> Result<(), Failure> {
        let mut agent = IdleAgent::new(uid);
        let facts = JsonMap::from_iter([("network_scheme".to_owned(), self.scheme.clone())]);
        self.say(&mut agent, &mut line, Input::Connected { facts }).await?;
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
                        self.welcomed();
                    }
                    self.say(&mut agent, &mut line, Input::Message(message)).await?;
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

    fn welcomed(&self) {
        if self.n_welcomed.fetch_add(1, Ordering::Relaxed) + 1 == self.n_agents {
            self.all_welcomed.notify_one();
        }
    }

    async fn say(&self, agent: &mut IdleAgent, line: &mut Line, input: Input) -> Result<(), Failure> {
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
