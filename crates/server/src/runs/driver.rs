//! Carries out one run: what happens goes into the engine, what it decides is written down, and only then done.
//!
//! There is one driver for a run, and it holds the run's lease. When the lease is lost, somebody else carries the run
//! out, and this one ends without another word.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use stoker_engine::blueprint::Blueprint;
use stoker_engine::run::{Effect, Event, Illegal, Input as StepInput, Phase, Run, RunEnd, step};
use stoker_engine::session::server::{Input, Output};
use stoker_engine::session::{AttemptKey, Finished, Generation, ToAgent};
use stoker_model::{Actor, Micros, RunId};
use stoker_store::StoreError;
use tokio::sync::{mpsc, oneshot};

use super::command::Command;
use super::projection::Projection;
use super::record;
use super::session::pass_on;
use super::work::Work;
use crate::state::App;

/// How long a run belongs to a server that says nothing.
pub(super) const LEASE_SECONDS: i64 = 15;
const LEASE_RENEWAL: Duration = Duration::from_secs(4);
/// Commands taken together: they share one transaction.
const BATCH_MAX: usize = 2048;
/// Before trying again when the database does not answer.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Somebody else carries the run out, or it is gone.
#[derive(Debug, thiserror::Error)]
#[error("the run is in other hands")]
pub(super) struct Lost;

pub(super) struct Driver {
    pub(super) app: App,
    pub(super) run: RunId,
    pub(super) lease: i64,
    pub(super) blueprint: Arc<Blueprint>,
    pub(super) state: Run,
    pub(super) next_seq: i64,
    pub(super) inbox: mpsc::Receiver<Command>,
    pub(super) projection: Projection,
    pub(super) work: Work,
    /// The number of each node by its uid.
    pub(super) nodes: HashMap<String, u32>,
    pub(super) wake_at: Option<Micros>,
    /// Attempts that could not be sent.
    pub(super) refused: Vec<(String, Finished)>,
}

type Answer = Result<(), Illegal>;

/// What a batch of commands comes to.
#[derive(Default)]
struct Turn {
    events: Vec<Event>,
    effects: Vec<Effect>,
    /// Agents that are to be told that an end is safe.
    recorded: Vec<(String, AttemptKey)>,
    /// Agents that have not got something.
    deliveries: Vec<(String, AttemptKey)>,
    answers: Vec<(oneshot::Sender<Answer>, Answer)>,
}

impl Driver {
    /// Until the run has ended.
    pub(super) async fn drive(mut self) -> Result<RunEnd, Lost> {
        let mut renewal = tokio::time::interval(LEASE_RENEWAL);
        renewal.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let turn = self.first_turn();
        self.finish(turn).await?;
        let mut batch = Vec::new();
        loop {
            if let Phase::Ended(end) = self.state.phase() {
                return Ok(end.clone());
            }
            if !self.refused.is_empty() {
                let mut turn = Turn::default();
                for (uid, finished) in std::mem::take(&mut self.refused) {
                    self.finished(&uid, finished, &mut turn);
                }
                self.finish(turn).await?;
                continue;
            }
            let wake = self.wake_in();
            tokio::select! {
                n_commands = self.inbox.recv_many(&mut batch, BATCH_MAX) => {
                    if n_commands == 0 {
                        return Err(Lost);
                    }
                    let turn = self.turn(batch.drain(..));
                    self.finish(turn).await?;
                }
                () = tokio::time::sleep(wake) => {
                    self.wake_at = None;
                    let mut turn = Turn::default();
                    self.take(StepInput::Wake, &mut turn);
                    self.finish(turn).await?;
                }
                _ = renewal.tick() => self.renew().await?,
            }
        }
    }

    /// Uids of the nodes whose agents have something to do.
    pub(super) fn executors(&self) -> Vec<String> {
        self.work.executors()
    }

    /// Begins the run, or goes on with it: what was decided and perhaps not done is done again.
    fn first_turn(&mut self) -> Turn {
        let mut turn = Turn::default();
        if matches!(self.state.phase(), Phase::Created) {
            self.take(StepInput::Begin, &mut turn);
        } else {
            self.take(StepInput::TakeOver, &mut turn);
            turn.effects.extend(self.state.effects());
        }
        let now = self.app.clock.now();
        let executors = self.nodes.iter().filter(|(uid, _)| self.work.has_agent(uid));
        // Asked of all, so that their silence is noticed from now on.
        let away: Vec<u32> =
            executors.filter(|(uid, _)| self.app.agents.is_lost(uid, now)).map(|(_, node)| *node).collect();
        for node in away {
            self.take(StepInput::NodeLost { node }, &mut turn);
        }
        turn
    }

    fn turn(&mut self, commands: impl Iterator<Item = Command>) -> Turn {
        let mut turn = Turn::default();
        for command in commands {
            match command {
                Command::AgentBack { uid } => {
                    if let Some(node) = self.nodes.get(&uid).copied() {
                        self.take(StepInput::NodeBack { node }, &mut turn);
                    }
                }
                Command::AgentLost { uid } => {
                    if let Some(node) = self.nodes.get(&uid).copied() {
                        self.take(StepInput::NodeLost { node }, &mut turn);
                    }
                }
                Command::Deliver { uid, key } => turn.deliveries.push((uid, key)),
                Command::Started { key, at } => self.take(StepInput::AttemptStarted { key, at }, &mut turn),
                Command::Finished { uid, finished } => self.finished(&uid, finished, &mut turn),
                Command::Asked { input, answer } => {
                    let result = self.step(input, &mut turn);
                    turn.answers.push((answer, result));
                }
            }
        }
        turn
    }

    /// Whatever the engine makes of it: once it is written down, the agent need not keep it.
    fn finished(&mut self, uid: &str, finished: Finished, turn: &mut Turn) {
        let Finished { key, at, end, summary } = finished;
        self.take(StepInput::AttemptFinished { key, at, end, summary }, turn);
        turn.recorded.push((uid.to_owned(), key));
    }

    /// An input that makes no sense is for the log.
    fn take(&mut self, input: StepInput, turn: &mut Turn) {
        if let Err(illegal) = self.step(input, turn) {
            tracing::debug!(run.id = self.run.0, %illegal, "a report was not taken");
        }
    }

    fn step(&mut self, input: StepInput, turn: &mut Turn) -> Result<(), Illegal> {
        let decided = step(&mut self.state, &self.blueprint, input, self.app.clock.now())?;
        turn.events.extend(decided.events);
        turn.effects.extend(decided.effects);
        Ok(())
    }

    /// Writes down what was decided, then does it.
    async fn finish(&mut self, turn: Turn) -> Result<(), Lost> {
        let Turn { events, effects, recorded, deliveries, answers } = turn;
        if !events.is_empty() {
            self.keep(&events, &effects).await?;
        } else if !recorded.is_empty() {
            // Only whoever has the run knows that an end is safe.
            self.renew().await?;
        }
        let mut by_agent: HashMap<String, Vec<AttemptKey>> = HashMap::new();
        for (uid, key) in recorded {
            by_agent.entry(uid).or_default().push(key);
        }
        for (uid, keys) in by_agent {
            self.tell(&uid, Input::Recorded { keys }).await;
        }
        for (uid, key) in deliveries {
            self.deliver(&uid, key).await;
        }
        for effect in effects {
            self.perform(effect).await;
        }
        for (answer, result) in answers {
            // Whoever asked may have gone.
            let _ = answer.send(result);
        }
        Ok(())
    }

    async fn keep(&mut self, events: &[Event], effects: &[Effect]) -> Result<(), Lost> {
        let records: Vec<_> =
            events.iter().zip(self.next_seq..).map(|(event, seq)| record::encode(event, seq)).collect();
        let history: Vec<_> =
            events.iter().flat_map(|event| self.projection.apply(&self.blueprint, event)).collect();
        let changes = self.work.changes(&self.blueprint, &self.state, events, effects);
        let mut pause = PAUSE_MIN;
        loop {
            let kept = async {
                let mut writing = self.app.store.change(&Actor::server(), self.app.clock.now()).await?;
                writing.history_put(&history).await?;
                changes.write(&mut writing).await?;
                writing.commit_run(self.run, self.lease, &records).await
            };
            match kept.await {
                Ok(()) => break,
                Err(StoreError::Unavailable(cause)) => {
                    tracing::warn!(run.id = self.run.0, error = %cause, "the run waits for the database");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                    // It may have been written although nobody said so.
                    if self.is_kept(records.last().map_or(0, |event| event.seq)).await {
                        break;
                    }
                }
                Err(StoreError::Stale { .. } | StoreError::Missing { .. }) => return Err(Lost),
                Err(error) => {
                    tracing::error!(run.id = self.run.0, error = %error, "what happened in the run cannot be written down");
                    return Err(Lost);
                }
            }
        }
        self.next_seq += records.len() as i64;
        self.app.news.tell(self.run);
        Ok(())
    }

    async fn is_kept(&self, seq: i64) -> bool {
        let read = async { self.app.store.read().await?.run_events(self.run, seq - 1, 1).await };
        read.await.is_ok_and(|events| !events.is_empty())
    }

    async fn perform(&mut self, effect: Effect) {
        let generation = Generation(self.lease as u64);
        match effect {
            Effect::Dispatch(key) => {
                if let Some(uid) = self.executor(key) {
                    self.app.ensure_agent(&uid).await;
                    self.tell(&uid, Input::Dispatch { key, generation }).await;
                }
            }
            Effect::Cancel { key, how } => {
                if let Some(uid) = self.executor(key) {
                    self.tell(&uid, Input::Cancel { key, generation, how }).await;
                }
            }
            Effect::WakeAt(at) => self.wake_at = Some(at),
            Effect::RunEnded(_) => {
                for uid in self.executors() {
                    self.tell(&uid, Input::RunIs { run: self.run, generation: None }).await;
                }
            }
            // Written down together with the events that tell of them.
            Effect::Succeeded { .. } | Effect::NodeEnded { .. } => {}
        }
    }

    /// Tells the session with an agent. What it says about this run is done here and now: a run does not write into its
    /// own inbox, which may be full.
    async fn tell(&mut self, uid: &str, input: Input) {
        let outputs = self.app.agents.step(uid, input, self.app.clock.now());
        for output in outputs {
            match output {
                Output::Deliver { key, .. } if key.run == self.run => self.deliver(uid, key).await,
                other => pass_on(&self.app, uid, vec![other]).await,
            }
        }
    }

    async fn deliver(&mut self, uid: &str, key: AttemptKey) {
        let generation = Generation(self.lease as u64);
        match self.work.attempt(key, generation, &self.blueprint).await {
            Ok(attempt) => self.app.agents.send(uid, ToAgent::Start(attempt)),
            // What cannot be sent has ended, as if its agent had said so.
            Err(finished) => self.refused.push((uid.to_owned(), finished)),
        }
    }

    fn executor(&self, key: AttemptKey) -> Option<String> {
        let node = self.blueprint.executor_of(key.instance)?;
        self.blueprint.node(node).map(str::to_owned)
    }

    fn wake_in(&self) -> Duration {
        let Some(at) = self.wake_at else { return Duration::from_hours(1) };
        Duration::from_micros(u64::try_from(at.0 - self.app.clock.now().0).unwrap_or(0))
    }

    async fn renew(&self) -> Result<(), Lost> {
        let now = self.app.clock.now();
        let until = now.plus_seconds(LEASE_SECONDS);
        match self.app.store.run_hold(self.run, self.lease, now, Some(until)).await {
            Err(StoreError::Stale { .. } | StoreError::Missing { .. }) => Err(Lost),
            Err(error) => {
                tracing::warn!(run.id = self.run.0, error = %error, "the lease of the run was not renewed");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}
