//! A conversation with an agent, from its first word to its last, over whatever carries messages.

use std::future::Future;
use std::time::Duration;

use stoker_engine::session::server::{Input, Output};
use stoker_engine::session::{AttemptKey, FromAgent, Stream, ToAgent};
use stoker_model::{JsonMap, NodeId, OutputPiece, RunId, RunStatus};
use stoker_settings::DatabaseLocation;
use stoker_store::List;
use tokio::time::timeout;

use super::agents::Line;
use super::command::Command;
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

/// Speaks with the agent that proved to be `uid` until one of both goes away.
pub(crate) async fn converse(app: &App, uid: &str, mut carrier: impl Carrier) {
    let Ok(Some(FromAgent::Hello(hello))) = timeout(HELLO_TIME_MAX, carrier.receive()).await else {
        tracing::warn!(agent.uid = uid, "a connection was closed: no word of an agent came in time");
        return;
    };
    if hello.node != uid {
        tracing::warn!(agent.uid = uid, said = hello.node, "an agent calls itself by another name");
        return;
    }
    tracing::info!(agent.uid = uid, agent.version = hello.version, "an agent has connected");
    let mut line = app.agents.connect(uid, app.clock.now());
    hear(app, &line, FromAgent::Hello(hello)).await;
    talk(app, &mut line, &mut carrier).await;
    app.agents.disconnect(&line, app.clock.now());
    tracing::info!(agent.uid = uid, "an agent has gone");
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
                if !carrier.send(message).await {
                    return;
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
        for (uid, outputs) in app.agents.step_all(&Input::Wake, app.clock.now()) {
            pass_on(app, &uid, outputs).await;
        }
    }
}

/// Waits for every agent that came in once: one that was there before this server and does not come back is missed. Where
/// there are several servers it may be with another.
async fn expect_all(app: &App) -> bool {
    if !matches!(app.settings.database, DatabaseLocation::Folder(_)) {
        return true;
    }
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
                tell(app, key.run, Command::Deliver { uid: uid.to_owned(), key }).await;
            }
            Output::Started { key, at } => {
                tell(app, key.run, Command::Started { key, at }).await;
            }
            Output::Finished(finished) => {
                let key = finished.key;
                let is_told = tell(app, key.run, Command::Finished { uid: uid.to_owned(), finished }).await;
                if !is_told && has_ended(app, key.run).await {
                    app.agents.step(uid, Input::Recorded { keys: vec![key] }, app.clock.now());
                }
            }
            Output::Printed { key, stream, offset, text } => {
                // Nobody knows any more who may add to a run that is over.
                if app.agents.run(key.run).is_some() || !has_ended(app, key.run).await {
                    print(app, key, stream, offset, text).await;
                }
            }
            Output::Facts(facts) => set_online(app, uid, true, Some(facts)).await,
            Output::Lost => {
                tell_all(app, || Command::AgentLost { uid: uid.to_owned() }).await;
                set_online(app, uid, false, None).await;
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

/// Which runs that an agent remembers are over.
async fn answer(app: &App, uid: &str, runs: Vec<RunId>) {
    for run in runs {
        let generation = app.agents.generation(run);
        // One that nobody has taken up yet is neither over nor in anybody's hands: whoever takes it up says so.
        if generation.is_some() || has_ended(app, run).await {
            app.agents.step(uid, Input::RunIs { run, generation }, app.clock.now());
        }
    }
}

/// Whether somebody here carries the run out.
async fn tell(app: &App, run: RunId, command: Command) -> bool {
    match app.agents.run(run) {
        Some(inbox) => inbox.send(command).await.is_ok(),
        None => false,
    }
}

async fn tell_all(app: &App, command: impl Fn() -> Command) {
    for inbox in app.agents.runs() {
        // A run that has just ended needs to know nothing.
        let _ = inbox.send(command()).await;
    }
}

async fn print(app: &App, key: AttemptKey, stream: Stream, offset: u64, text: String) {
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
pub(super) async fn has_ended(app: &App, run: RunId) -> bool {
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
async fn set_online(app: &App, uid: &str, online: bool, facts: Option<JsonMap>) {
    let Some(id) = NodeId::parse(uid) else { return };
    if let Err(error) = app.store.node_online(id, online, facts.as_ref(), app.clock.now()).await {
        tracing::warn!(error = %error, node.id = id.0, "the node was not marked as online or away");
    }
}
