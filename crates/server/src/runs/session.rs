//! A conversation with an agent, from its first word to its last, over whatever carries messages.

use std::future::Future;
use std::time::Duration;

use stoker_engine::session::server::{Input, Output};
use stoker_engine::session::{AttemptKey, FromAgent, Stream, ToAgent};
use stoker_model::{JsonMap, NodeId, OutputPiece, RunId, RunStatus};
use stoker_store::List;
use stoker_wire::encode_from_agent;
use tokio::time::timeout;

use super::agents::{Line, Proof};
use super::command::Command;
use crate::group::Letter;
use crate::state::App;

/// From the connection to the first word.
const HELLO_TIME_MAX: Duration = Duration::from_secs(20);
/// How often silence is looked for.
const WATCH_INTERVAL: Duration = Duration::from_secs(5);

/// What carries messages to and from one agent.
pub(crate) trait Carrier: Send {
    /// The next message; `None` when there will be no more.
    fn receive(&mut self) -> impl Future<Output = Option<FromAgent>> + Send;
    /// Whether it could be sent.
    fn send(&mut self, message: ToAgent) -> impl Future<Output = bool> + Send;
}

/// Speaks with the agent that proved to be `uid`, with a credential of this digest, until one of both goes away.
pub(crate) async fn converse(app: &App, uid: &str, proof: Option<Proof>, mut carrier: impl Carrier) {
    let Ok(Some(FromAgent::Hello(hello))) = timeout(HELLO_TIME_MAX, carrier.receive()).await else {
        tracing::warn!(agent.uid = uid, "a connection was closed: no word of an agent came in time");
        return;
    };
    if hello.node != uid {
        tracing::warn!(agent.uid = uid, said = hello.node, "an agent calls itself by another name");
        return;
    }
    tracing::info!(agent.uid = uid, agent.version = hello.version, "an agent has connected");
    app.metrics.agents.connections.inc();
    let mut line = app.agents.connect(uid, proof, app.clock.now());
    // It may have been sent away while it was connecting; from here on whoever sends it away finds the connection.
    if is_welcome(app, proof).await {
        app.group.moved(uid, line.id, true);
        hear(app, &line, FromAgent::Hello(hello)).await;
        talk(app, &mut line, &mut carrier).await;
    }
    app.agents.disconnect(&line, app.clock.now());
    app.group.moved(uid, line.id, false);
    tracing::info!(agent.uid = uid, "an agent has gone");
}

async fn is_welcome(app: &App, proof: Option<Proof>) -> bool {
    let Some(proof) = proof else { return true };
    gone(app, &[proof]).await.is_empty()
}

/// Which of these credentials are nobody's any more. A store that does not answer says nothing against anybody.
async fn gone(app: &App, proofs: &[Proof]) -> Vec<Proof> {
    let read = async { app.store.read().await?.agents_gone(proofs).await };
    read.await.unwrap_or_else(|error| {
        tracing::warn!(error = %error, "whether agents were sent away is not known");
        Vec::new()
    })
}

/// Ends connections of agents that were sent away by another server.
async fn cut_off_strangers(app: &App) {
    let proofs = app.agents.proofs();
    if !proofs.is_empty() {
        app.agents.cut_off(&gone(app, &proofs).await);
    }
}

async fn talk(app: &App, line: &mut Line, carrier: &mut impl Carrier) {
    loop {
        tokio::select! {
            message = carrier.receive() => {
                let Some(message) = message else { return };
                hear(app, line, message).await;
            }
            message = line.outbox.recv() => {
                let Some(message) = message else { return };
                tokio::select! {
                    is_sent = carrier.send(message) => if !is_sent {
                        return;
                    },
                    // An agent that was cut off without a word takes nothing, for as long as the network tries.
                    () = line.cut.notified() => return,
                }
            }
            () = line.cut.notified() => return,
        }
    }
}

async fn hear(app: &App, line: &Line, message: FromAgent) {
    if matches!(message, FromAgent::Heartbeat) {
        app.seen.note(&line.uid);
    }
    let outputs = app.agents.step_from(line, Input::Message(message), app.clock.now());
    pass_on(app, &line.uid, outputs).await;
}

/// Looks for agents of which nothing is heard. Never ends by itself.
pub(crate) async fn watch(app: &App) {
    let mut ticks = tokio::time::interval(WATCH_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut is_expecting = false;
    loop {
        ticks.tick().await;
        is_expecting = is_expecting || expect_all(app).await;
        // Where there is one server it has cut them off itself.
        if app.group.is_shared() {
            cut_off_strangers(app).await;
        }
        for (uid, outputs) in app.agents.step_all(&Input::Wake, app.clock.now()) {
            pass_on(app, &uid, outputs).await;
        }
    }
}

/// Waits for every agent that came in once: one that was there before this server and does not come back, to this one or
/// to another, is missed.
async fn expect_all(app: &App) -> bool {
    let read = async { app.store.read().await?.agent_list(None, &List::default()).await };
    match read.await {
        Ok(page) => {
            let now = app.clock.now();
            page.items.iter().for_each(|agent| _ = app.agents.is_lost(&agent.uid, now));
            true
        }
        Err(error) => {
            tracing::warn!(error = %error, "which agents should be there is not known yet");
            false
        }
    }
}

/// Hands on what the machine of a session has to say to others than its agent.
pub(crate) async fn pass_on(app: &App, uid: &str, outputs: Vec<Output>) {
    for output in outputs {
        if is_about_others(app, uid, &output) {
            tracing::warn!(agent.uid = uid, "an agent told of an attempt that is not its own");
            continue;
        }
        match output {
            Output::Deliver { key, .. } => {
                tell(app, uid, key.run, Command::Deliver { uid: uid.to_owned(), key }).await;
            }
            Output::Started { key, at } => {
                tell(app, uid, key.run, Command::Started { key, at }).await;
            }
            Output::Finished(finished) => {
                let key = finished.key;
                let is_told =
                    tell(app, uid, key.run, Command::Finished { uid: uid.to_owned(), finished }).await;
                if !is_told && has_ended(app, key.run).await {
                    app.agents.step(uid, Input::Recorded { keys: vec![key] }, app.clock.now());
                }
            }
            Output::Printed { key, stream, offset, text } => {
                printed(app, uid, (key, stream, offset, text)).await;
            }
            Output::Facts(facts) => set_online(app, uid, true, Some(facts)),
            Output::Lost => {
                app.metrics.agents.losses.inc();
                tell_all(app, || Command::AgentLost { uid: uid.to_owned() }).await;
                if !is_with_another(app, uid).await {
                    set_online(app, uid, false, None);
                }
            }
            Output::Back => tell_all(app, || Command::AgentBack { uid: uid.to_owned() }).await,
            Output::AskRuns { runs } => answer(app, uid, runs).await,
            // All agents are looked at from time to time.
            Output::WakeAt(_) | Output::Send(_) | Output::Disconnect => {}
        }
    }
}

/// An agent is believed about what it was to carry out, and about nothing else: a node that somebody has broken into
/// must not speak for the others.
fn is_about_others(app: &App, uid: &str, output: &Output) -> bool {
    let key = match output {
        Output::Started { key, .. } | Output::Printed { key, .. } => *key,
        Output::Finished(finished) => finished.key,
        _ => return false,
    };
    app.agents.is_executor(uid, key) == Some(false)
}

/// Which runs that an agent remembers are over. Of the others, whoever carries them out says what is in flight: it knows
/// that the agent is back.
async fn answer(app: &App, uid: &str, runs: Vec<RunId>) {
    for run in runs {
        if app.agents.run(run).is_none() && has_ended(app, run).await {
            app.agents.step(uid, Input::RunIs { run, generation: None }, app.clock.now());
        }
    }
}

/// Whether somebody carries the run out, here or elsewhere.
async fn tell(app: &App, uid: &str, run: RunId, command: Command) -> bool {
    let command = match app.agents.run(run) {
        Some(inbox) => match inbox.send(command).await {
            Ok(()) => return true,
            Err(unsent) => unsent.0,
        },
        None => command,
    };
    let uid = uid.to_owned();
    let letter = match command {
        Command::Deliver { key, .. } => Letter::Deliver { uid, key: key.into() },
        Command::Started { key, at } => {
            Letter::FromAgent { uid, text: encode_from_agent(&FromAgent::Started { key, at }) }
        }
        Command::Finished { finished, .. } => {
            Letter::FromAgent { uid, text: encode_from_agent(&FromAgent::Finished(finished)) }
        }
        _ => return false,
    };
    let Some(server) = app.driver_of(run).await else { return false };
    app.group.post(&server, &letter);
    true
}

/// What was said of ends that nobody has taken is said again.
pub(crate) async fn say_again(app: &App) {
    for (uid, finished) in app.agents.owed(app.clock.now()) {
        pass_on(app, &uid, vec![Output::Finished(finished)]).await;
    }
}

type Printed = (AttemptKey, Stream, u64, String);

/// Kept here if the agent was asked for it here. Else whoever carries the run out knows whether it is the agent's; and
/// nobody knows any more who may add to a run that is over.
async fn printed(app: &App, uid: &str, (key, stream, offset, text): Printed) {
    if app.agents.run(key.run).is_some() || app.agents.was_asked(uid, key) {
        return keep_output(app, key, stream, offset, text).await;
    }
    if let Some(server) = app.driver_of(key.run).await {
        let text = encode_from_agent(&FromAgent::Output { key, stream, offset, text });
        app.group.post(&server, &Letter::FromAgent { uid: uid.to_owned(), text });
    } else if !has_ended(app, key.run).await {
        keep_output(app, key, stream, offset, text).await;
    }
}

/// What is known here may be a moment old.
async fn is_with_another(app: &App, uid: &str) -> bool {
    if !app.group.is_shared() {
        return false;
    }
    let read = async { app.store.read().await?.host_of(uid).await };
    let host = read.await.ok().flatten().and_then(|host| host.server_id);
    host.is_some_and(|server| app.group.is_live(&server))
}

async fn tell_all(app: &App, command: impl Fn() -> Command) {
    for inbox in app.agents.runs() {
        // A run that has just ended needs to know nothing.
        let _ = inbox.send(command()).await;
    }
}

pub(crate) async fn keep_output(app: &App, key: AttemptKey, stream: Stream, offset: u64, text: String) {
    let stream = match stream {
        Stream::Out => "out",
        Stream::Err => "err",
    };
    let piece = OutputPiece {
        instance: i64::from(key.instance),
        attempt: i64::from(key.attempt),
        stream: stream.to_owned(),
        start: i64::try_from(offset).unwrap_or(i64::MAX),
        text,
    };
    app.output.put(key.run, piece).await;
}

/// Whether a run is over, or was forgotten.
pub(crate) async fn has_ended(app: &App, run: RunId) -> bool {
    let read = async { app.store.read().await?.run_get(run).await };
    match read.await {
        Ok(run) => run.is_none_or(|run| !matches!(run.status, RunStatus::Pending | RunStatus::Running)),
        Err(error) => {
            tracing::warn!(error = %error, run.id = run.0, "whether a run has ended is not known");
            false
        }
    }
}

/// Notes on the node whether its agent is there, and what it found out. The master is no node.
fn set_online(app: &App, uid: &str, online: bool, facts: Option<JsonMap>) {
    if let Some(id) = NodeId::parse(uid) {
        app.sightings.note(id, online, facts);
    }
}
