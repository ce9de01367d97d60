//! Driver of the agent session: performs the outputs of the state machine in `stoker-engine` and feeds its
//! inputs.
//!
//! A single loop owns all mutable state. Attempts run in background tasks and report through one channel. The
//! session makes all decisions about attempts; the driver only executes them.

mod attempt;
mod check;
mod outbox;
mod output;
mod recovery;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use stoker_engine::session::agent::{AgentLimits, AgentSession, Durability, Identity, Input, Output, Record};
use stoker_engine::session::{AttemptKey, AttemptResult, FromAgent, ToAgent};
use stoker_model::{ErrorChain, JsonMap};
use stoker_tasks::host::real::Machine;
use stoker_tasks::{StopReason, StopSender};
use stoker_wire::record::JournalEntry;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use crate::journal::{Job, ReplyTo, SYNCS, WriteError, WriteOutcome, Writer};
use crate::result_queue::ResultQueue;
use crate::transport::{Connection, Transport, TransportError};
use crate::{AgentError, backoff, clock, facts};
use attempt::Ended;
use outbox::Outbox;
pub use settings::DriverSettings;

/// Events from background tasks of the driver loop.
pub(crate) enum Event {
    Report(FromAgent),
    Append { entry: JournalEntry, reply: ReplyTo, key: AttemptKey },
    Ended(Box<Ended>),
    Facts(JsonMap),
}

/// Runs an agent until `stop` is set, or until the transport is closed and no attempt is running.
pub async fn run(
    settings: DriverSettings,
    folder: crate::StateFolder,
    mut transport: impl Transport,
    mut stop: watch::Receiver<bool>,
) -> Result<(), AgentError> {
    let (mut driver, mut inbox) = Driver::start(settings, &folder, transport.result_queue()).await?;
    let mut backoff = backoff::Backoff::new(driver.settings.backoff);
    loop {
        tokio::select! {
            () = stop_requested(&mut stop) => break,
            connected = transport.connect() => match connected {
                Ok(connection) => {
                    backoff.reset();
                    tracing::info!("connected");
                    if driver.run_session(connection, &mut inbox, &mut stop).await == SessionEnd::Stopped {
                        break;
                    }
                    tracing::info!("connection lost");
                }
                Err(TransportError::Closed(why)) => {
                    tracing::info!(why, "transport closed");
                    driver.finish_running(&mut inbox, &mut stop).await;
                    break;
                }
                Err(error @ TransportError::Unavailable(_)) => {
                    tracing::warn!(error = %ErrorChain(&error), "cannot connect");
                }
            },
            () = driver.process_events(&mut inbox) => {}
        }
        let pause = backoff.next();
        tokio::select! {
            () = stop_requested(&mut stop) => break,
            () = tokio::time::sleep(pause) => {}
            () = driver.process_events(&mut inbox) => {}
        }
    }
    driver.end(inbox).await;
    drop(folder);
    Ok(())
}

/// Resolves when a stop is requested or the sender is dropped.
pub(crate) async fn stop_requested(stop: &mut watch::Receiver<bool>) {
    _ = stop.wait_for(|stop| *stop).await;
}

#[derive(Debug, PartialEq, Eq)]
enum SessionEnd {
    ConnectionLost,
    Stopped,
}

/// Event sources of the driver loop. Events are received only while the journal has room. Results of journal
/// writes are always received, because the writer blocks until they are.
struct Inbox {
    events: mpsc::Receiver<Event>,
    written: mpsc::Receiver<WriteOutcome>,
}

/// Capacity of the channel from the attempts. An attempt has at most a few events at a time, because its output is joined
/// while it waits, so this is enough for a burst of many attempts. When it is full, attempts wait.
const EVENTS_MAX: usize = 256;

pub(crate) struct Driver {
    settings: DriverSettings,
    session: AgentSession,
    machine: Arc<Machine>,
    writer: Writer,
    writer_task: tokio::task::JoinHandle<()>,
    events: mpsc::Sender<Event>,
    running: BTreeMap<AttemptKey, StopSender>,
    tasks: JoinSet<()>,
    /// Checks of the node. Aborted when the agent ends: they change nothing.
    checks: JoinSet<()>,
    facts_task: AbortHandle,
    /// Journal entries of running attempts that are not session records. A journal rewrite has to include
    /// them.
    notes: BTreeMap<AttemptKey, Vec<JournalEntry>>,
    /// Queue for durable publication of results, and the results whose journal record is still pending, by
    /// sequence number.
    result_queue: Option<ResultQueue>,
    unwritten_results: BTreeMap<u64, AttemptResult>,
    outbox: Outbox,
    facts: JsonMap,
    heartbeat: Duration,
    is_connected: bool,
}

/// Heartbeat interval until the server sends one.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Minimum heartbeat interval that the server can set.
const HEARTBEAT_MIN: Duration = Duration::from_millis(50);

impl Driver {
    async fn start(
        mut settings: DriverSettings,
        folder: &crate::StateFolder,
        result_queue: Option<ResultQueue>,
    ) -> Result<(Self, Inbox), AgentError> {
        folder.path().clone_into(&mut settings.state);
        let mut machine = Machine::new(folder.scratch_path());
        machine.hooks = settings.hooks.clone();
        machine.grace = settings.grace;
        machine.boot_id = settings.boot_id.clone();
        machine.hidden_env = settings.hidden_env.clone();
        let (events, receive_events) = mpsc::channel(EVENTS_MAX);
        let journal = folder.assign_journal(&settings.node)?;
        let recovered = recovery::recover(folder, &machine).await?;
        if let Some(result_queue) = &result_queue {
            // The previous agent may have stopped before it published these results; duplicates have no
            // effect.
            recovered.unacknowledged().for_each(|finished| result_queue.add(finished));
        }
        let (writer, written, writer_task) = Writer::start(recovered.file, &SYNCS);
        let identity = Identity {
            node: settings.node.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            journal_id: Some(journal.id),
        };
        let rebooting = recovered.rebooting.keys().copied().collect();
        let (session, outputs) = AgentSession::restore(
            identity,
            AgentLimits::default(),
            recovered.records,
            &rebooting,
            clock::now(),
        );
        let facts = tokio::task::spawn_blocking(facts::collect).await.unwrap_or_default();
        let mut tasks = JoinSet::new();
        let facts_task = tasks.spawn(collect_facts(events.clone(), settings.facts_every));
        let mut driver = Self {
            settings,
            session,
            machine: Arc::new(machine),
            writer,
            writer_task,
            events,
            running: BTreeMap::new(),
            tasks,
            checks: JoinSet::new(),
            facts_task,
            notes: recovered.notes,
            result_queue,
            unwritten_results: BTreeMap::new(),
            outbox: Outbox::default(),
            facts,
            heartbeat: HEARTBEAT,
            is_connected: false,
        };
        for (key, boot_id) in recovered.rebooting {
            driver.await_reboot(key, boot_id);
        }
        driver.perform(outputs);
        Ok((driver, Inbox { events: receive_events, written }))
    }

    /// Runs the session over one connection, until it is lost or a stop is requested.
    async fn run_session(
        &mut self,
        mut connection: Connection,
        inbox: &mut Inbox,
        stop: &mut watch::Receiver<bool>,
    ) -> SessionEnd {
        self.is_connected = true;
        self.outbox.connected();
        self.heartbeat = HEARTBEAT;
        let outputs = self.session.step(Input::Connected { facts: self.facts.clone() }, clock::now());
        self.perform(outputs);
        let mut next_heartbeat = Instant::now() + self.heartbeat;
        let ended = loop {
            let ready = async {
                if self.outbox.is_empty() {
                    std::future::pending().await
                } else {
                    connection.send.reserve().await
                }
            };
            let has_room = self.writer.has_room();
            tokio::select! {
                () = stop_requested(stop) => break SessionEnd::Stopped,
                permit = ready => match (permit, self.outbox.pop()) {
                    (Ok(permit), Some(message)) => permit.send(message),
                    (Ok(_), None) => {}
                    (Err(_), _) => break SessionEnd::ConnectionLost,
                },
                message = connection.receive.recv(), if has_room => match message {
                    Some(message) => {
                        if let (ToAgent::Acknowledge { keys }, Some(result_queue)) = (&message, &self.result_queue) {
                            result_queue.remove(keys);
                        }
                        self.step(Input::Message(message));
                    }
                    None => break SessionEnd::ConnectionLost,
                },
                Some(event) = inbox.events.recv(), if has_room => self.handle_event(event),
                Some(written) = inbox.written.recv() => self.handle_written(written),
                () = self.writer.flush(), if !has_room => {}
                () = tokio::time::sleep_until(next_heartbeat) => self.outbox.push(FromAgent::Heartbeat),
            }
            let latest = Instant::now() + self.heartbeat;
            if next_heartbeat <= Instant::now() || next_heartbeat > latest {
                next_heartbeat = latest;
            }
        };
        self.is_connected = false;
        self.outbox.disconnected();
        self.step(Input::Disconnected);
        ended
    }

    /// Processes events while there is no connection. Never returns; cancel-safe.
    async fn process_events(&mut self, inbox: &mut Inbox) {
        loop {
            self.process_event(inbox).await;
        }
    }

    /// Waits for one event and processes it.
    async fn process_event(&mut self, inbox: &mut Inbox) {
        let has_room = self.writer.has_room();
        tokio::select! {
            Some(event) = inbox.events.recv(), if has_room => self.handle_event(event),
            Some(written) = inbox.written.recv() => self.handle_written(written),
            () = self.writer.flush(), if !has_room => {}
        }
    }

    async fn finish_running(&mut self, inbox: &mut Inbox, stop: &mut watch::Receiver<bool>) {
        while self.session.running().next().is_some() {
            tokio::select! {
                () = stop_requested(stop) => return,
                () = self.process_event(inbox) => {}
            }
        }
    }

    /// Stops all running attempts and flushes the journal. Stopped attempts remain accepted in the journal,
    /// so that the next agent reports them as interrupted. Results of attempts that finished by themselves
    /// are recorded.
    async fn end(mut self, mut inbox: Inbox) {
        for stopper in self.running.values() {
            stopper.stop(StopReason::AgentShutdown);
        }
        self.facts_task.abort();
        self.checks.abort_all();
        // The session needs no further results of writes, and the writer must not wait for their receiver.
        drop(inbox.written);
        let deadline = Instant::now() + self.settings.grace + Duration::from_secs(10);
        while !self.tasks.is_empty() {
            tokio::select! {
                _ = self.tasks.join_next() => {}
                Some(event) = inbox.events.recv() => {
                    self.handle_event(event);
                    self.writer.flush().await;
                }
                () = tokio::time::sleep_until(deadline) => {
                    tracing::warn!("some tasks did not end before the deadline");
                    break;
                }
            }
        }
        while let Ok(event) = inbox.events.try_recv() {
            self.handle_event(event);
        }
        self.writer.flush().await;
        drop(self.writer);
        _ = self.writer_task.await;
    }

    fn step(&mut self, input: Input) {
        let outputs = self.session.step(input, clock::now());
        self.perform(outputs);
    }

    fn handle_written(&mut self, WriteOutcome { seq, result }: WriteOutcome) {
        // Publish the result even if the journal write failed: it is correct, and then has no other durable
        // copy.
        if let (Some(result_queue), Some(finished)) =
            (&self.result_queue, self.unwritten_results.remove(&seq))
        {
            result_queue.add(finished);
        }
        self.step(match result {
            Ok(()) => Input::Written { seq },
            Err(error) => {
                tracing::error!(error = %ErrorChain(&error.cause()), "cannot write the journal");
                Input::WriteFailed { seq, message: error.cause().to_string() }
            }
        });
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Report(message) => self.outbox.push(message),
            Event::Append { entry, reply, key } => {
                if self.running.contains_key(&key) {
                    self.notes.entry(key).or_default().push(entry.clone());
                }
                let safe = if matches!(reply, ReplyTo::Waiter(_)) {
                    Durability::BeforeAck
                } else {
                    Durability::NotRequired
                };
                self.writer.write(Job::Append { entry, safe, reply });
            }
            Event::Ended(ended) => {
                let Ended { key, end, report } = *ended;
                self.running.remove(&key);
                self.notes.remove(&key);
                self.step(Input::Exited { key, end, report });
            }
            Event::Facts(facts) => {
                if facts != self.facts && self.is_connected {
                    self.outbox.push(FromAgent::Facts(facts.clone()));
                }
                self.facts = facts;
            }
        }
    }

    fn perform(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Write { seq, record } => {
                    let mut safe = record.durability();
                    if let (Record::Ended(finished), Some(_)) = (&record, &self.result_queue) {
                        self.unwritten_results.insert(seq, finished.clone());
                        // A result must be in the journal before it is published: no other party may know
                        // more than the journal.
                        safe = Durability::BeforeAck;
                    }
                    let entry = JournalEntry::Session(record);
                    self.writer.write(Job::Append { entry, safe, reply: ReplyTo::Session(seq) });
                }
                Output::Rewrite { seq, records } => {
                    let mut entries: Vec<JournalEntry> =
                        records.into_iter().map(JournalEntry::Session).collect();
                    entries.extend(self.notes.values().flatten().cloned());
                    self.writer.write(Job::Rewrite { entries, reply: ReplyTo::Session(seq) });
                }
                Output::Send(message) => self.outbox.push(message),
                Output::Start(attempt) => self.start_attempt(attempt),
                Output::Check(request) => self.start_check(request),
                Output::Kill(key) => {
                    if let Some(stopper) = self.running.get(&key) {
                        stopper.stop(StopReason::Cancelled);
                    }
                }
                Output::HeartbeatEvery { ms } => {
                    self.heartbeat = Duration::from_millis(ms).max(HEARTBEAT_MIN);
                }
                Output::Ignored { run, why } => tracing::debug!(run.id = run.0, why, "ignored a message"),
            }
        }
    }
}

/// Collects facts periodically. The receiver compares them with the previous ones.
async fn collect_facts(events: mpsc::Sender<Event>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let facts = tokio::task::spawn_blocking(facts::collect).await.unwrap_or_default();
        if events.send(Event::Facts(facts)).await.is_err() {
            return;
        }
    }
}

/// Appends an entry outside the session and waits until it is synced.
pub(crate) async fn append_and_wait(
    events: &mpsc::Sender<Event>,
    key: AttemptKey,
    entry: JournalEntry,
) -> Result<(), AppendError> {
    let (reply, replied) = oneshot::channel();
    let event = Event::Append { entry, reply: ReplyTo::Waiter(reply), key };
    events.send(event).await.map_err(|_| AppendError::ShuttingDown)?;
    Ok(replied.await.map_err(|_| AppendError::ShuttingDown)??)
}

/// Error while appending an entry outside the session to the journal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AppendError {
    #[error("the agent is shutting down")]
    ShuttingDown,
    #[error(transparent)]
    Write(#[from] WriteError),
}
