//! Drives one run: feeds commands to the engine, commits its decisions, and performs effects only after the
//! commit.
//!
//! A run has one driver, which holds its lease. A driver that loses the lease ends without further effects:
//! another server has taken the run over.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use stoker_engine::blueprint::Blueprint;
use stoker_engine::run::{
    EngineEvent, Input as StepInput, InputError, Phase, RunEffect, RunMachine, RunOutcome, step,
};
use stoker_engine::session::server::Input;
use stoker_engine::session::{AttemptKey, AttemptResult};
use stoker_model::{Actor, AgentUid, ClusterId, ErrorChain, Micros, NodeIdx, RunEvent, RunId};
use stoker_services::Clock;
use stoker_store::StoreError;
use tokio::sync::{mpsc, oneshot};

use super::projection::Projection;
use super::spans::AttemptSpans;
use super::work::Work;
use crate::agents::{Command, RunResponse};
use crate::orchestrator::Orchestrator;
use crate::record;

/// Maximum number of commands received from the inbox in one call.
const BATCH_MAX: usize = 2048;
/// Soft limit of events per transaction: no further command is processed once it is reached. Long
/// transactions block all other writers.
const EVENTS_MAX: usize = 4096;
/// Bounds of the exponential backoff while the database is unavailable.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// The lease was lost: another server drives the run, or it was deleted.
#[derive(Debug, thiserror::Error)]
#[error("run lease lost")]
pub(super) struct Lost;

/// Outcome of a driven run.
pub(super) struct Driven {
    pub(super) end: RunOutcome,
    /// A stop was requested: later graphs are not executed, even if this run completed.
    pub(super) stop_requested: bool,
}

pub(super) struct Driver {
    pub(super) orchestrator: Orchestrator,
    pub(super) run: RunId,
    pub(super) lease: i64,
    pub(super) blueprint: Arc<Blueprint>,
    pub(super) state: RunMachine,
    pub(super) next_seq: i64,
    pub(super) inbox: mpsc::Receiver<Command>,
    pub(super) projection: Projection,
    pub(super) work: Work,
    /// Index of each node in the blueprint, by UID.
    pub(super) nodes: HashMap<AgentUid, NodeIdx>,
    pub(super) wake_at: Option<Micros>,
    /// Unprocessed commands: received from the inbox, or sent by the driver to itself, since its inbox may be
    /// full.
    pub(super) waiting: VecDeque<Command>,
    /// Attempts on agents of other servers that were unconfirmed at the last check: not started, or cancelled
    /// and not ended. They are claimed again if they are still unconfirmed at the next check.
    pub(super) unconfirmed: HashSet<AttemptKey>,
    /// Key for fair scheduling of writes: runs of one cluster share their permits.
    pub(super) cluster: ClusterId,
    pub(super) spans: AttemptSpans,
    /// Whether the run starts paused, because the previous graph ended paused.
    pub(super) start_paused: bool,
}

type CommandResult = Result<(), InputError>;

/// Accumulated events, effects and responses of a batch of commands.
#[derive(Default)]
struct Batch {
    events: Vec<EngineEvent>,
    effects: Vec<RunEffect>,
    /// Results to acknowledge to their agents after the commit.
    recorded: Vec<(AgentUid, AttemptKey)>,
    /// Attempts that agents have not received.
    deliveries: Vec<(AgentUid, AttemptKey)>,
    /// Agents to which all attempts in flight are claimed.
    claims: BTreeSet<AgentUid>,
    answers: Vec<(oneshot::Sender<CommandResult>, CommandResult)>,
    /// Answered once the results are committed.
    receipts: Vec<oneshot::Sender<RunResponse>>,
}

impl Driver {
    /// Drives the run until it has ended or the lease is lost.
    pub(super) async fn drive(mut self) -> Result<Driven, Lost> {
        let mut renewal_ticks = tokio::time::interval(self.orchestrator.context.lease_renewal());
        renewal_ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let batch = self.first_batch();
        Box::pin(self.finish(batch)).await?;
        let mut commands = Vec::new();
        loop {
            if let Phase::Ended(end) = self.state.phase() {
                return Ok(Driven { end: end.clone(), stop_requested: self.state.stop_requested() });
            }
            if !self.waiting.is_empty() {
                let batch = self.next_batch();
                Box::pin(self.finish(batch)).await?;
                continue;
            }
            let wake = self.wake_in();
            tokio::select! {
                n_commands = self.inbox.recv_many(&mut commands, BATCH_MAX) => {
                    if n_commands == 0 {
                        return Err(Lost);
                    }
                    self.waiting.extend(commands.drain(..));
                }
                () = tokio::time::sleep(wake) => {
                    self.wake_at = None;
                    let mut batch = Batch::default();
                    self.take(StepInput::Wake, &mut batch);
                    Box::pin(self.finish(batch)).await?;
                }
                _ = renewal_ticks.tick() => {
                    if self.orchestrator.leases.is_lost(self.run, self.lease) {
                        return Err(Lost);
                    }
                    self.repeat_claims().await;
                }
            }
        }
    }

    /// UIDs of the nodes whose agents execute instances of the run.
    pub(super) fn executors(&self) -> Vec<AgentUid> {
        self.work.executors()
    }

    /// Starts the run, or resumes it after a takeover by repeating committed effects that may not have been
    /// performed.
    fn first_batch(&mut self) -> Batch {
        let mut batch = Batch::default();
        if matches!(self.state.phase(), Phase::Created) {
            let first = if self.start_paused { StepInput::Pause } else { StepInput::Begin };
            self.take(first, &mut batch);
        } else {
            self.take(StepInput::TakeOver, &mut batch);
            // Claims cover dispatches and cancellations.
            let is_claimed =
                |effect: &RunEffect| matches!(effect, RunEffect::Dispatch(_) | RunEffect::Cancel { .. });
            batch.effects.extend(self.state.effects().into_iter().filter(|effect| !is_claimed(effect)));
            batch.claims.extend(self.executors());
        }
        let now = self.orchestrator.context.clock.now();
        let executors = self.nodes.iter().filter(|(uid, _)| self.work.has_agent(uid));
        // `is_lost` also starts the silence timeout, so call it for every executor.
        let away: Vec<NodeIdx> = executors
            .filter(|(uid, _)| self.orchestrator.agents.is_lost(uid, now))
            .map(|(_, node)| *node)
            .collect();
        for node in away {
            self.take(StepInput::NodeLost { node }, &mut batch);
        }
        batch
    }

    /// Processes waiting commands until the batch reaches the limit of one transaction.
    fn next_batch(&mut self) -> Batch {
        let mut batch = Batch::default();
        while batch.events.len() < EVENTS_MAX
            && let Some(command) = self.waiting.pop_front()
        {
            match command {
                Command::AgentBack { uid } => {
                    if let Some(node) = self.nodes.get(&uid).copied() {
                        self.take(StepInput::NodeBack { node }, &mut batch);
                        batch.claims.insert(uid);
                    }
                }
                Command::AgentGone { uid } => {
                    if self.nodes.contains_key(&uid) {
                        batch.claims.insert(uid);
                    }
                }
                Command::AgentLost { uid } => {
                    if let Some(node) = self.nodes.get(&uid).copied() {
                        self.take(StepInput::NodeLost { node }, &mut batch);
                    }
                }
                Command::Deliver { uid, key } if self.executor(key).as_ref() == Some(&uid) => {
                    batch.deliveries.push((uid, key));
                }
                Command::Deliver { uid, .. } => {
                    tracing::warn!(agent.uid = uid.as_str(), "an agent requested an attempt of another node");
                }
                Command::Started { key, at } => self.take(StepInput::AttemptStarted { key, at }, &mut batch),
                Command::Finished { uid, finished, receipt } => {
                    self.finished(&uid, finished, &mut batch);
                    batch.receipts.extend(receipt);
                }
                Command::Control { input, reply } => {
                    let result = self.step(input, &mut batch);
                    batch.answers.push((reply, result));
                }
            }
        }
        batch
    }

    /// A result is acknowledged after the commit, whether or not the engine accepts it.
    fn finished(&mut self, uid: &AgentUid, finished: AttemptResult, batch: &mut Batch) {
        let AttemptResult { key, at, end, report } = finished;
        self.take(StepInput::AttemptFinished { key, at, end, report }, batch);
        batch.recorded.push((uid.clone(), key));
    }

    /// Feeds an input to the engine. Illegal inputs, such as late reports, are only logged.
    fn take(&mut self, input: StepInput, batch: &mut Batch) {
        if let Err(illegal) = self.step(input, batch) {
            tracing::debug!(run.id = self.run.0, %illegal, "ignored a report that is illegal in the current state");
        }
    }

    fn step(&mut self, input: StepInput, batch: &mut Batch) -> Result<(), InputError> {
        let decided = step(&mut self.state, &self.blueprint, input, self.orchestrator.context.clock.now())?;
        batch.events.extend(decided.events);
        batch.effects.extend(decided.effects);
        Ok(())
    }

    /// Commits the batch, then sends responses and performs effects.
    async fn finish(&mut self, batch: Batch) -> Result<(), Lost> {
        let Batch { events, effects, recorded, deliveries, claims, answers, receipts } = batch;
        if !events.is_empty() {
            Box::pin(self.keep(&events, &effects)).await?;
        } else if !recorded.is_empty() || !claims.is_empty() {
            // Acknowledgements and claims are only valid from the lease holder.
            self.renew().await?;
        }
        self.spans.record(&self.blueprint, &events);
        for receipt in receipts {
            // The requester may have given up.
            let _ = receipt.send(RunResponse::Done);
        }
        let mut by_agent: HashMap<AgentUid, Vec<AttemptKey>> = HashMap::new();
        for (uid, key) in recorded {
            by_agent.entry(uid).or_default().push(key);
        }
        for (uid, keys) in by_agent {
            self.send(&uid, Input::Recorded { keys }).await;
        }
        for (uid, key) in deliveries {
            self.deliver(&uid, key).await;
        }
        for effect in effects {
            self.perform(effect).await;
        }
        if !claims.is_empty() {
            Box::pin(self.claim(claims)).await;
        }
        for (answer, result) in answers {
            // The requester may have given up.
            let _ = answer.send(result);
        }
        Ok(())
    }

    async fn keep(&mut self, events: &[EngineEvent], effects: &[RunEffect]) -> Result<(), Lost> {
        let records: Vec<_> =
            events.iter().zip(self.next_seq..).map(|(event, seq)| record::encode(event, seq)).collect();
        let history: Vec<_> =
            events.iter().flat_map(|event| self.projection.apply(&self.blueprint, event)).collect();
        let changes = self.work.changes(&self.blueprint, &self.state, events, effects);
        let mut pause = PAUSE_MIN;
        let began = Clock::instant();
        loop {
            let commit = async {
                let _permit = self.orchestrator.writers.acquire(self.cluster.0).await;
                let mut writing = self
                    .orchestrator
                    .context
                    .store
                    .begin_write(&Actor::server(), self.orchestrator.context.clock.now())
                    .await?;
                writing.history_put(&history).await?;
                changes.write(&mut writing).await?;
                writing.commit_run(self.run, self.lease, &records).await
            };
            match commit.await {
                Ok(()) => break,
                Err(StoreError::Unavailable(cause)) => {
                    tracing::warn!(run.id = self.run.0, error = %ErrorChain(&cause), "cannot commit the state of the run; retrying");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                    // The transaction may have been committed before the connection failed.
                    if self.is_committed(&records).await {
                        break;
                    }
                }
                Err(StoreError::Stale { .. } | StoreError::NotFound { .. }) => return Err(Lost),
                Err(error) => {
                    tracing::error!(run.id = self.run.0, error = %ErrorChain(&error), "cannot commit the state of the run; abandoning it");
                    return Err(Lost);
                }
            }
        }
        self.orchestrator.metrics.runs.written(events, self.work.is_real(), began.elapsed());
        self.next_seq += records.len() as i64;
        self.orchestrator.notify_watchers(self.run);
        Ok(())
    }

    /// Whether exactly these events were committed. Another server may have taken the run over and committed
    /// other events with the same sequence numbers; then the results of this batch must not be acknowledged.
    async fn is_committed(&self, records: &[RunEvent]) -> bool {
        let Some(last) = records.last() else { return true };
        let read = async {
            self.orchestrator.context.store.read().await?.run_events(self.run, last.seq - 1, 1).await
        };
        read.await.is_ok_and(|events| events.first() == Some(last))
    }

    pub(super) fn executor(&self, key: AttemptKey) -> Option<AgentUid> {
        let node = self.blueprint.executor_of(key.instance)?;
        self.blueprint.node(node).map(AgentUid::from)
    }

    fn wake_in(&self) -> Duration {
        let Some(at) = self.wake_at else { return Duration::from_hours(1) };
        Duration::from_micros(u64::try_from(at.0 - self.orchestrator.context.clock.now().0).unwrap_or(0))
    }

    /// Renews the lease of the run. Retries while the database is unavailable.
    async fn renew(&self) -> Result<(), Lost> {
        let mut pause = PAUSE_MIN;
        loop {
            let now = self.orchestrator.context.clock.now();
            let until = self.orchestrator.context.leased_until(now);
            match self
                .orchestrator
                .context
                .store
                .run_lease_renew(self.run, self.lease, now, Some(until))
                .await
            {
                Ok(()) => return Ok(()),
                Err(StoreError::Stale { .. } | StoreError::NotFound { .. }) => return Err(Lost),
                Err(error) => {
                    tracing::warn!(run.id = self.run.0, error = %ErrorChain(&error), "cannot renew the run lease; retrying");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }
}
