//! Performs committed effects: sends messages to agents, on this server or another.

use std::collections::{BTreeSet, HashMap, HashSet};

use stoker_engine::run::RunEffect;
use stoker_engine::session::server::{Input, Output};
use stoker_engine::session::{Attempt, AttemptKey, AttemptResult, Generation, InFlight, ResultKind, ToAgent};
use stoker_model::{AgentUid, TaskReport};
use stoker_wire::encode_to_agent;

use super::driver::Driver;
use crate::agent_launcher::{ensure_agent, is_orphaned, not_here};
use crate::agents::{AgentLocation, Command};
use crate::peers::{Flight, PeerMessage};
use crate::routing;

impl Driver {
    pub(super) async fn perform(&mut self, effect: RunEffect) {
        let generation = Generation(self.lease as u64);
        match effect {
            RunEffect::Dispatch(key) => {
                if let Some(uid) = self.executor(key) {
                    ensure_agent(&self.orchestrator, &uid).await;
                    self.send(&uid, Input::Dispatch { key, generation }).await;
                }
            }
            RunEffect::Cancel { key, how } => {
                if let Some(uid) = self.executor(key) {
                    self.send(&uid, Input::Cancel { key, generation, how }).await;
                }
            }
            RunEffect::WakeAt(at) => self.wake_at = Some(at),
            RunEffect::RunEnded(_) => {
                for uid in self.executors() {
                    self.send(&uid, Input::RunStatus { run: self.run, generation: None }).await;
                }
            }
            // Written in the same transaction as the events.
            RunEffect::Succeeded { .. } | RunEffect::Triggered { .. } | RunEffect::NodeEnded { .. } => {}
        }
    }

    /// Sends an input to the session of an agent, on this server or another. Outputs about this run are
    /// handled directly: the driver must not send to its own inbox, which may be full.
    pub(super) async fn send(&mut self, uid: &AgentUid, input: Input) {
        if let AgentLocation::Elsewhere(server) = self.orchestrator.agents.location(uid) {
            if let Some(message) = self.message(uid, input).await {
                self.orchestrator.peers.send(&server, &message);
            }
            return;
        }
        let outputs = self.orchestrator.agents.step(uid, input, self.orchestrator.context.clock.now());
        self.handle_outputs(uid, outputs).await;
    }

    async fn handle_outputs(&mut self, uid: &AgentUid, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Deliver { key, .. } if key.run == self.run => self.deliver(uid, key).await,
                Output::Finished(finished) if finished.key.run == self.run => {
                    self.waiting.push_back(Command::Finished { uid: uid.clone(), finished, receipt: None });
                }
                Output::Started { key, at } if key.run == self.run => {
                    self.waiting.push_back(Command::Started { key, at });
                }
                other => routing::handle_outputs(&self.orchestrator, uid, vec![other]).await,
            }
        }
    }

    /// Encodes an input as a message to the host of the agent; `None` if the input is not sent to other
    /// servers.
    async fn message(&mut self, uid: &AgentUid, input: Input) -> Option<PeerMessage> {
        let message = match input {
            Input::Dispatch { key, generation } => {
                let start = ToAgent::Start(self.attempt(uid, key).await?);
                let (uid, start) = (uid.clone(), encode_to_agent(&start));
                return Some(PeerMessage::Dispatch { uid, key: key.into(), generation: generation.0, start });
            }
            Input::Cancel { key, generation, how } => ToAgent::Cancel { key, generation, how },
            Input::Recorded { keys } => ToAgent::Acknowledge { keys },
            Input::RunStatus { run, generation: None } => ToAgent::RunEnded { run },
            Input::RunStatus { generation: Some(_), .. }
            | Input::Started { .. }
            | Input::Message(_)
            | Input::Disconnected
            | Input::Wake => return None,
        };
        Some(PeerMessage::ToAgent { uid: uid.clone(), text: encode_to_agent(&message) })
    }

    pub(super) async fn deliver(&mut self, uid: &AgentUid, key: AttemptKey) {
        let Some(attempt) = self.attempt(uid, key).await else { return };
        let message = ToAgent::Start(attempt);
        match self.orchestrator.agents.location(uid) {
            AgentLocation::Elsewhere(server) => {
                let message = PeerMessage::ToAgent { uid: uid.clone(), text: encode_to_agent(&message) };
                self.orchestrator.peers.send(&server, &message);
            }
            AgentLocation::Here | AgentLocation::Nowhere => self.orchestrator.agents.send(uid, message),
        }
    }

    /// Builds an attempt. On failure, queues the failure as the result of the attempt and returns `None`.
    async fn attempt(&mut self, uid: &AgentUid, key: AttemptKey) -> Option<Attempt> {
        let generation = Generation(self.lease as u64);
        let mut attempt_or_failure = self.work.attempt(key, generation, &self.blueprint).await;
        if let Some(message) =
            attempt_or_failure.as_ref().ok().and_then(|attempt| not_here(&self.orchestrator, uid, attempt))
        {
            let (at, end) = (self.orchestrator.context.clock.now(), ResultKind::Refused { message });
            attempt_or_failure = Err(AttemptResult { key, at, end, report: TaskReport::default() });
        }
        match attempt_or_failure {
            Ok(attempt) => {
                let trace = self.spans.under(key).map(|trace| trace.to_string());
                Some(Attempt { trace, ..attempt })
            }
            Err(finished) => {
                self.waiting.push_back(Command::Finished { uid: uid.clone(), finished, receipt: None });
                None
            }
        }
    }

    /// Claims all attempts in flight with these agents. Sessions cancel attempts that are not claimed.
    pub(super) async fn claim(&mut self, uids: BTreeSet<AgentUid>) {
        let mut flights: HashMap<AgentUid, Vec<InFlight>> = HashMap::new();
        for flight in self.state.in_flight() {
            if let Some(uid) = self.executor(flight.key).filter(|uid| uids.contains(uid)) {
                flights.entry(uid).or_default().push(flight);
            }
        }
        for uid in uids {
            let flights = flights.remove(&uid).unwrap_or_default();
            if !flights.is_empty() && self.orchestrator.agents.location(&uid) == AgentLocation::Nowhere {
                if is_orphaned(&self.orchestrator, &uid).await {
                    self.interrupt(&uid, &flights);
                    continue;
                }
                ensure_agent(&self.orchestrator, &uid).await;
            }
            self.claim_one(&uid, &flights).await;
        }
    }

    async fn claim_one(&mut self, uid: &AgentUid, flights: &[InFlight]) {
        let generation = Generation(self.lease as u64);
        if let AgentLocation::Elsewhere(server) = self.orchestrator.agents.location(uid) {
            let flights = flights.iter().copied().map(Flight::from).collect();
            let (uid, run, generation) = (uid.clone(), self.run.0, generation.0);
            self.orchestrator.peers.send(&server, &PeerMessage::Claim { uid, run, generation, flights });
            return;
        }
        let now = self.orchestrator.context.clock.now();
        let outputs = self.orchestrator.agents.claim(uid, self.run, generation, flights, now);
        self.handle_outputs(uid, outputs).await;
    }

    /// Ends attempts whose results are irrecoverable as interrupted.
    fn interrupt(&mut self, uid: &AgentUid, flights: &[InFlight]) {
        let at = self.orchestrator.context.clock.now();
        self.waiting.extend(flights.iter().map(|flight| {
            let finished = AttemptResult {
                key: flight.key,
                at,
                end: ResultKind::Interrupted,
                report: TaskReport::default(),
            };
            Command::Finished { uid: uid.clone(), finished, receipt: None }
        }));
    }

    /// Repeats claims to agents of other servers for attempts that have been unconfirmed for a whole
    /// interval: not started, or cancelled and not ended. A message may have been lost.
    pub(super) async fn repeat_claims(&mut self) {
        if !self.orchestrator.context.is_shared {
            return;
        }
        let mut unheard = HashSet::new();
        let mut uids = BTreeSet::new();
        for flight in self.state.in_flight().filter(|flight| !flight.is_started || flight.cancel.is_some()) {
            let Some(uid) = self.executor(flight.key) else { continue };
            if !matches!(self.orchestrator.agents.location(&uid), AgentLocation::Elsewhere(_)) {
                continue;
            }
            if self.unconfirmed.contains(&flight.key) {
                uids.insert(uid);
            }
            unheard.insert(flight.key);
        }
        self.unconfirmed = unheard;
        if !uids.is_empty() {
            self.claim(uids).await;
        }
    }
}
