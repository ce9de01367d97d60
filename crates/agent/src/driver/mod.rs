//! Drives the session: carries out what it decides, and tells it what happened.
//!
//! One loop, one owner of everything that changes. Work happens in tasks beside it, which report back through one channel.

mod attempt;
mod outbox;
mod recovery;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use stoker_engine::session::agent::{AgentSession, Identity, Input, Limits, Output, Record};
use stoker_engine::session::{AttemptKey, Finished, FromAgent, ToAgent};
use stoker_model::JsonMap;
use stoker_tasks::host::real::Machine;
use stoker_tasks::{StopReason, Stopper};
use stoker_wire::record::Entry;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use crate::journal::{Answer, Job, Safe, Writer};
use crate::keeping::Keeping;
use crate::transport::{Connection, Transport, TransportError};
use crate::{AgentError, backoff, clock, facts};
use attempt::Ended;
use outbox::Outbox;
pub use settings::Settings;

/// What tasks beside the loop report.
pub(crate) enum Event {
    Report(FromAgent),
    Note { entry: Entry, answer: Answer, key: AttemptKey },
    Ended(Box<Ended>),
    Facts(JsonMap),
}

/// Runs an agent until it is asked to stop, or until there will be no further connection and nothing runs any more.
pub async fn run(
    settings: Settings,
    folder: crate::StateFolder,
    mut transport: impl Transport,
    mut stop: watch::Receiver<bool>,
) -> Result<(), AgentError> {
    let (mut driver, mut inbox) = Driver::start(settings, &folder, transport.keeping()).await?;
    let mut backoff = backoff::Backoff::new(driver.settings.backoff);
    loop {
        tokio::select! {
            () = stopped(&mut stop) => break,
            connected = transport.connect() => match connected {
                Ok(connection) => {
                    backoff.reset();
                    tracing::info!("connected");
                    if driver.converse(connection, &mut inbox, &mut stop).await == Conversation::Stopped {
                        break;
                    }
                    tracing::info!("the connection is lost");
                }
                Err(TransportError::Over(why)) => {
                    tracing::info!(why, "there will be no further connection");
                    driver.finish_running(&mut inbox, &mut stop).await;
                    break;
                }
                Err(TransportError::Away(why)) => tracing::warn!(why, "cannot connect"),
            },
            () = driver.work_alone(&mut inbox) => {}
        }
        let pause = backoff.next();
        tokio::select! {
            () = stopped(&mut stop) => break,
            () = tokio::time::sleep(pause) => {}
            () = driver.work_alone(&mut inbox) => {}
        }
    }
    driver.end(inbox).await;
    drop(folder);
    Ok(())
}

/// Returns when the agent is asked to stop, and when nobody is left who could ask.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    _ = stop.wait_for(|is_stopped| *is_stopped).await;
}

#[derive(Debug, PartialEq, Eq)]
enum Conversation {
    Lost,
    Stopped,
}

/// What the loop listens to.
struct Inbox {
    events: mpsc::UnboundedReceiver<Event>,
    written: mpsc::UnboundedReceiver<(u64, Result<(), String>)>,
}

pub(crate) struct Driver {
    settings: Settings,
    session: AgentSession,
    machine: Arc<Machine>,
    writer: Writer,
    writing: tokio::task::JoinHandle<()>,
    events: mpsc::UnboundedSender<Event>,
    running: BTreeMap<AttemptKey, Stopper>,
    tasks: JoinSet<()>,
    facts_watch: AbortHandle,
    /// What is known of attempts that run, besides what the session knows; a rewritten journal has to keep it.
    notes: BTreeMap<AttemptKey, Vec<Entry>>,
    /// Who is given every result besides, and the results that are being written into the journal.
    keeping: Option<Keeping>,
    ending: BTreeMap<u64, Finished>,
    outbox: Outbox,
    facts: JsonMap,
    heartbeat: Duration,
    is_connected: bool,
}

/// Until a server says otherwise.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Whatever a server says.
const HEARTBEAT_MIN: Duration = Duration::from_millis(50);

impl Driver {
    async fn start(
        mut settings: Settings,
        folder: &crate::StateFolder,
        keeping: Option<Keeping>,
    ) -> Result<(Self, Inbox), AgentError> {
        folder.path().clone_into(&mut settings.state);
        let mut machine = Machine::new(folder.scratch());
        machine.hooks = settings.hooks.clone();
        machine.grace = settings.grace;
        machine.boot_id = settings.boot_id.clone();
        machine.hidden_env = settings.hidden_env.clone();
        let (events, receive_events) = mpsc::unbounded_channel();
        let (done, written) = mpsc::unbounded_channel();
        let recovered = recovery::recover(folder, &machine).await?;
        if let Some(keeping) = &keeping {
            // Whether the agent before had the time for it nobody knows.
            recovered.unsettled().for_each(|finished| keeping.add(finished));
        }
        let (writer, writing) = Writer::start(recovered.file, done);
        let identity =
            Identity { node: settings.node.clone(), version: env!("CARGO_PKG_VERSION").to_owned() };
        let alive = recovered.rebooting.keys().copied().collect();
        let (session, outputs) =
            AgentSession::restarted(identity, Limits::default(), recovered.records, &alive, clock::now());
        let facts = tokio::task::spawn_blocking(facts::collect).await.unwrap_or_default();
        let mut tasks = JoinSet::new();
        let facts_watch = tasks.spawn(watch_facts(events.clone(), settings.facts_every));
        let mut driver = Self {
            settings,
            session,
            machine: Arc::new(machine),
            writer,
            writing,
            events,
            running: BTreeMap::new(),
            tasks,
            facts_watch,
            notes: recovered.notes,
            keeping,
            ending: BTreeMap::new(),
            outbox: Outbox::default(),
            facts,
            heartbeat: HEARTBEAT,
            is_connected: false,
        };
        for (key, boot_id) in recovered.rebooting {
            driver.await_reboot(key, boot_id);
        }
        driver.carry_out(outputs);
        Ok((driver, Inbox { events: receive_events, written }))
    }

    /// A connection from its first message to its last.
    async fn converse(
        &mut self,
        mut connection: Connection,
        inbox: &mut Inbox,
        stop: &mut watch::Receiver<bool>,
    ) -> Conversation {
        self.is_connected = true;
        self.outbox.connected();
        self.heartbeat = HEARTBEAT;
        let outputs = self.session.step(Input::Connected { facts: self.facts.clone() }, clock::now());
        self.carry_out(outputs);
        let mut next_heartbeat = Instant::now() + self.heartbeat;
        let ended = loop {
            let ready = async {
                if self.outbox.is_empty() {
                    std::future::pending().await
                } else {
                    connection.send.reserve().await
                }
            };
            tokio::select! {
                () = stopped(stop) => break Conversation::Stopped,
                permit = ready => match (permit, self.outbox.pop()) {
                    (Ok(permit), Some(message)) => permit.send(message),
                    (Ok(_), None) => {}
                    (Err(_), _) => break Conversation::Lost,
                },
                message = connection.receive.recv() => match message {
                    Some(message) => {
                        if let (ToAgent::Acknowledge { keys }, Some(keeping)) = (&message, &self.keeping) {
                            keeping.settled(keys);
                        }
                        self.step(Input::Message(message));
                    }
                    None => break Conversation::Lost,
                },
                Some(event) = inbox.events.recv() => self.event(event),
                Some(written) = inbox.written.recv() => self.written(written),
                () = tokio::time::sleep_until(next_heartbeat) => self.outbox.push(FromAgent::Heartbeat),
            }
            let wanted = Instant::now() + self.heartbeat;
            if next_heartbeat <= Instant::now() || next_heartbeat > wanted {
                next_heartbeat = wanted;
            }
        };
        self.is_connected = false;
        self.outbox.disconnected();
        self.step(Input::Disconnected);
        ended
    }

    /// Goes on with what runs while there is no connection. Never returns; safe to be dropped at any moment.
    async fn work_alone(&mut self, inbox: &mut Inbox) {
        loop {
            self.work(inbox).await;
        }
    }

    /// Waits for something to happen, and acts on it.
    async fn work(&mut self, inbox: &mut Inbox) {
        tokio::select! {
            Some(event) = inbox.events.recv() => self.event(event),
            Some(written) = inbox.written.recv() => self.written(written),
        }
    }

    async fn finish_running(&mut self, inbox: &mut Inbox, stop: &mut watch::Receiver<bool>) {
        while self.session.running().next().is_some() {
            tokio::select! {
                () = stopped(stop) => return,
                () = self.work(inbox) => {}
            }
        }
    }

    /// Ends everything that runs. The journal says that it was begun, so the next agent reports it as interrupted; what has
    /// come to its end by itself is still written down.
    async fn end(mut self, mut inbox: Inbox) {
        for stopper in self.running.values() {
            stopper.stop(StopReason::AgentEnds);
        }
        self.facts_watch.abort();
        let deadline = Instant::now() + self.settings.grace + Duration::from_secs(10);
        while !self.tasks.is_empty() {
            tokio::select! {
                _ = self.tasks.join_next() => {}
                Some(event) = inbox.events.recv() => self.event(event),
                () = tokio::time::sleep_until(deadline) => {
                    tracing::warn!("some tasks did not end in time");
                    break;
                }
            }
        }
        while let Ok(event) = inbox.events.try_recv() {
            self.event(event);
        }
        drop(self.writer);
        _ = self.writing.await;
    }

    fn step(&mut self, input: Input) {
        let outputs = self.session.step(input, clock::now());
        self.carry_out(outputs);
    }

    fn written(&mut self, (seq, result): (u64, Result<(), String>)) {
        // Also what the disk refuses: it is true, and needs another keeper all the more.
        if let (Some(keeping), Some(finished)) = (&self.keeping, self.ending.remove(&seq)) {
            keeping.add(finished);
        }
        self.step(match result {
            Ok(()) => Input::Written { seq },
            Err(message) => {
                tracing::error!(message, "the journal cannot be written");
                Input::WriteFailed { seq, message }
            }
        });
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Report(message) => self.outbox.push(message),
            Event::Note { entry, answer, key } => {
                if self.running.contains_key(&key) {
                    self.notes.entry(key).or_default().push(entry.clone());
                }
                let safe = if matches!(answer, Answer::Waiting(_)) { Safe::First } else { Safe::Whenever };
                self.writer.write(Job::Append { entry, safe, answer });
            }
            Event::Ended(ended) => {
                let Ended { key, end, summary } = *ended;
                self.running.remove(&key);
                self.notes.remove(&key);
                self.step(Input::Exited { key, end, summary });
            }
            Event::Facts(facts) => {
                if facts != self.facts && self.is_connected {
                    self.outbox.push(FromAgent::Facts(facts.clone()));
                }
                self.facts = facts;
            }
        }
    }

    fn carry_out(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Write { seq, record } => {
                    let safe = safety(&record);
                    if let (Record::Ended(finished), Some(_)) = (&record, &self.keeping) {
                        self.ending.insert(seq, finished.clone());
                    }
                    let entry = Entry::Session(record);
                    self.writer.write(Job::Append { entry, safe, answer: Answer::Session(seq) });
                }
                Output::Rewrite { seq, records } => {
                    let mut entries: Vec<Entry> = records.into_iter().map(Entry::Session).collect();
                    entries.extend(self.notes.values().flatten().cloned());
                    self.writer.write(Job::Rewrite { entries, answer: Answer::Session(seq) });
                }
                Output::Send(message) => self.outbox.push(message),
                Output::Start(attempt) => self.begin(attempt),
                Output::Kill(key) => {
                    if let Some(stopper) = self.running.get(&key) {
                        stopper.stop(StopReason::Cancelled);
                    }
                }
                Output::HeartbeatEvery { ms } => {
                    self.heartbeat = Duration::from_millis(ms).max(HEARTBEAT_MIN);
                }
                Output::Ignored { run, why } => tracing::debug!(run.id = run.0, why, "a message was ignored"),
            }
        }
    }
}

/// When a record has to be where a loss of power leaves it.
fn safety(record: &Record) -> Safe {
    match record {
        // Or it could be begun a second time.
        Record::Accepted { .. } => Safe::First,
        // The server is told meanwhile. If power is lost before either has it, the attempt was interrupted for all that
        // anybody can say: neither is it certain that what it wrote is on the disk.
        Record::Ended(_) => Safe::Soon,
        // Without them something is told twice, which does no harm.
        _ => Safe::Whenever,
    }
}

/// Looks at the machine now and then; whoever holds the receiver decides what is new.
async fn watch_facts(events: mpsc::UnboundedSender<Event>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let facts = tokio::task::spawn_blocking(facts::collect).await.unwrap_or_default();
        if events.send(Event::Facts(facts)).is_err() {
            return;
        }
    }
}

/// Waits for a write, for those who are no part of the session.
pub(crate) async fn note_and_wait(
    events: &mpsc::UnboundedSender<Event>,
    key: AttemptKey,
    entry: Entry,
) -> Result<(), String> {
    let (answer, answered) = oneshot::channel();
    let gone = || "the agent ends".to_owned();
    events.send(Event::Note { entry, answer: Answer::Waiting(answer), key }).map_err(|_| gone())?;
    answered.await.map_err(|_| gone())?
}
