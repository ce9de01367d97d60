//! Simulated agents: the real session, a disk with fsync semantics, and processes that exit, die or survive
//! the agent.

use std::collections::{BTreeMap, BTreeSet};

use stoker_engine::session::agent::{AgentLimits, AgentSession, Durability, Identity, Input, Output, Record};
use stoker_engine::session::{Attempt, AttemptKey, ResultKind, ToAgent};
use stoker_model::{JsonMap, Micros, TaskReport};

use super::{ConnectionId, Sabotage, SimEvent, World};

pub(crate) struct Agent {
    identity: Identity,
    /// Session of the agent; `None` while the agent is down.
    pub(crate) session: Option<AgentSession>,
    /// Number of starts; events of an earlier incarnation are dropped.
    pub(crate) incarnation: u32,
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) is_disk_full: bool,
    journal: Vec<Record>,
    /// Number of journal records that survive power loss.
    n_synced: usize,
    /// Time of the oldest record that awaits a deferred fsync.
    unsynced_since: Option<Micros>,
    /// Requested writes that are not complete yet.
    writes: BTreeMap<u64, Write>,
    processes: BTreeSet<AttemptKey>,
}

#[derive(Clone)]
enum Write {
    Append(Record),
    Replace(Vec<Record>),
}

impl Agent {
    pub(crate) fn new(uid: &str) -> Self {
        Self {
            identity: Identity { node: uid.into(), version: "1".to_owned(), journal_id: None },
            session: None,
            incarnation: 0,
            connection: None,
            is_disk_full: false,
            journal: Vec::new(),
            n_synced: 0,
            unsynced_since: None,
            writes: BTreeMap::new(),
            processes: BTreeSet::new(),
        }
    }

    fn sync(&mut self) {
        self.n_synced = self.journal.len();
        self.unsynced_since = None;
    }

    pub(crate) fn is_idle(&self) -> bool {
        let is_quiet =
            |session: &AgentSession| session.n_unacknowledged() == 0 && session.running().next().is_none();
        self.session.as_ref().is_some_and(is_quiet) && self.processes.is_empty()
    }
}

/// Maximum delay of a deferred fsync.
const SYNC_WITHIN_MICROS: i64 = 100_000;

/// Limits of agents. They are small, so that journals are compacted often and unacknowledged results
/// accumulate.
const LIMITS: AgentLimits = AgentLimits { n_unacknowledged_max: 2, n_ended_runs_max: 3, n_slack_records: 4 };

impl World<'_> {
    pub(crate) fn start_agent(&mut self, idx: usize) {
        let agent = &mut self.agents[idx];
        if agent.session.is_some() {
            return;
        }
        agent.incarnation += 1;
        // The journal is fsynced before the agent acts on its contents.
        agent.sync();
        let journal = match self.sabotage {
            Sabotage::LostJournal => Vec::new(),
            _ => agent.journal.clone(),
        };
        let (session, outputs) =
            AgentSession::restore(agent.identity.clone(), LIMITS, journal, &agent.processes, self.now);
        agent.session = Some(session);
        self.agent_outputs(idx, outputs);
        let delay_ms = self.rng.between(10, 2000);
        self.after_ms(delay_ms, SimEvent::Connect(idx));
    }

    pub(crate) fn crash_agent(&mut self, idx: usize) {
        if self.agents[idx].session.take().is_none() {
            return;
        }
        self.n_agent_crashes += 1;
        // A prefix of the writes in flight may have reached the disk.
        let writes = std::mem::take(&mut self.agents[idx].writes);
        let n_arrived = self.rng.below(writes.len() as u64 + 1) as usize;
        if !self.agents[idx].is_disk_full {
            for write in writes.into_values().take(n_arrived) {
                self.persist(idx, write);
            }
        }
        // No agent remains to perform the deferred fsync.
        self.agents[idx].unsynced_since = None;
        if self.rng.one_in(2) {
            self.agents[idx].processes.clear();
        }
        if let Some(connection) = self.agents[idx].connection.take() {
            self.break_connection(connection);
        }
        let delay_ms = self.rng.between(100, 60_000);
        self.after_ms(delay_ms, SimEvent::AgentStarts(idx));
    }

    /// Simulates a power loss: a suffix of the records that were not fsynced may be lost, and all processes
    /// die. Possible also while the agent is down.
    pub(crate) fn lose_power(&mut self, idx: usize) {
        self.run_deferred_sync(idx);
        self.crash_agent(idx);
        let agent = &mut self.agents[idx];
        agent.processes.clear();
        let n_left = self.rng.between(agent.n_synced as u64, agent.journal.len() as u64) as usize;
        for record in agent.journal.split_off(n_left) {
            match record {
                Record::Ended(finished) => self.oracle.result_lost(finished.key),
                Record::Accepted { key, .. } => self.oracle.acceptance_lost(key),
                _ => {}
            }
        }
        agent.n_synced = n_left;
    }

    pub(crate) fn agent_connected(&mut self, idx: usize) {
        self.agent_input(idx, Input::Connected { facts: JsonMap::new() });
    }

    pub(crate) fn agent_disconnected(&mut self, idx: usize) {
        self.agent_input(idx, Input::Disconnected);
    }

    pub(crate) fn arrives_at_agent(&mut self, id: ConnectionId, message: ToAgent, is_repeated: bool) {
        let connection = &self.connections[id];
        let agent = connection.agent;
        let is_current = connection.is_open && self.agents[agent].connection == Some(id);
        if is_current || is_repeated {
            self.agent_input(agent, Input::Message(message));
        }
    }

    fn agent_input(&mut self, idx: usize, input: Input) {
        let Some(session) = &mut self.agents[idx].session else { return };
        let outputs = session.step(input, self.now);
        self.agent_outputs(idx, outputs);
    }

    fn agent_outputs(&mut self, idx: usize, outputs: Vec<Output>) {
        let incarnation = self.agents[idx].incarnation;
        for output in outputs {
            if self.is_chaos() && self.rng.one_in(300) {
                self.crash_agent(idx);
            }
            if self.agents[idx].session.is_none() || self.agents[idx].incarnation != incarnation {
                return;
            }
            match output {
                Output::Write { seq, record } => self.write(idx, seq, Write::Append(record)),
                Output::Rewrite { seq, records } => self.write(idx, seq, Write::Replace(records)),
                Output::Send(message) => {
                    if let Some(connection) = self.agents[idx].connection {
                        self.send_to_server(connection, message);
                    }
                }
                Output::Start(attempt) => self.start_process(idx, &attempt),
                Output::Kill(key) => {
                    if self.agents[idx].processes.contains(&key) {
                        let delay_ms = self.rng.between(1, 5000);
                        self.after_ms(
                            delay_ms,
                            SimEvent::ProcessEnds { agent: idx, key, end: ResultKind::Cancelled },
                        );
                    }
                }
                Output::HeartbeatEvery { .. } | Output::Check(_) | Output::Ignored { .. } => {}
            }
        }
    }

    // The disk.

    fn write(&mut self, agent: usize, seq: u64, write: Write) {
        let incarnation = self.agents[agent].incarnation;
        if self.sabotage == Sabotage::EarlyStart && matches!(write, Write::Append(Record::Accepted { .. })) {
            self.after_ms(0, SimEvent::Written { agent, incarnation, seq });
            return;
        }
        self.agents[agent].writes.insert(seq, write);
        let delay_ms = self.rng.between(0, 20);
        self.after_ms(delay_ms, SimEvent::Written { agent, incarnation, seq });
    }

    /// Completes all writes up to this number, like one fsync.
    pub(crate) fn complete_writes(&mut self, idx: usize, incarnation: u32, seq: u64) {
        if self.agents[idx].incarnation != incarnation || self.agents[idx].session.is_none() {
            return;
        }
        if self.sabotage == Sabotage::EarlyStart && !self.agents[idx].writes.contains_key(&seq) {
            self.agent_input(idx, Input::Written { seq });
            return;
        }
        while let Some((first, write)) = self.agents[idx].writes.first_key_value() {
            if *first > seq || self.agents[idx].incarnation != incarnation {
                return;
            }
            let (first, write) = (*first, write.clone());
            self.agents[idx].writes.remove(&first);
            if self.agents[idx].is_disk_full {
                self.agent_input(
                    idx,
                    Input::WriteFailed { seq: first, message: "no space left on device".to_owned() },
                );
            } else {
                self.persist(idx, write);
                self.agent_input(idx, Input::Written { seq: first });
            }
        }
    }

    fn persist(&mut self, idx: usize, write: Write) {
        self.run_deferred_sync(idx);
        let mut is_risky = false;
        let agent = &mut self.agents[idx];
        let is_synced = match write {
            Write::Append(record) => {
                let safe = record.durability();
                if let Record::Ended(finished) = &record {
                    self.oracle.journaled(finished.key, &finished.end);
                }
                if safe == Durability::Deferred {
                    agent.unsynced_since.get_or_insert(self.now);
                    is_risky = self.now < self.chaos_until && self.rng.one_in(40);
                }
                agent.journal.push(record);
                safe == Durability::BeforeAck && self.sabotage != Sabotage::UnsyncedAcceptance
            }
            Write::Replace(records) => {
                agent.journal = records;
                true
            }
        };
        if is_synced {
            agent.sync();
        }
        if is_risky {
            let delay_ms = self.rng.between(0, 120);
            self.after_ms(delay_ms, SimEvent::PowerLoss(idx));
        }
    }

    fn run_deferred_sync(&mut self, idx: usize) {
        let agent = &mut self.agents[idx];
        let is_time = |since: Micros| self.now.0 - since.0 >= SYNC_WITHIN_MICROS;
        if agent.unsynced_since.is_some_and(is_time) {
            agent.sync();
        }
    }

    // Simulated task processes.

    fn start_process(&mut self, idx: usize, attempt: &Attempt) {
        let key = attempt.key;
        self.n_executions += 1;
        let others: Vec<AttemptKey> =
            self.agents.iter().flat_map(|agent| &agent.processes).copied().collect();
        self.oracle.process_started(key, &others);
        self.agents[idx].processes.insert(key);
        let duration_ms =
            if self.rng.one_in(10) { self.rng.between(0, 120_000) } else { self.rng.between(0, 8000) };
        let end = match self.rng.below(12) {
            0 | 1 => ResultKind::Failed { message: "exit code 1".to_owned() },
            _ => ResultKind::Succeeded,
        };
        let (duration_ms, end) = if duration_ms > attempt.timeout_ms {
            (attempt.timeout_ms, ResultKind::TimedOut)
        } else {
            (duration_ms, end)
        };
        // Occasionally a process cannot be killed until long after its timeout.
        let extra_ms = if self.is_chaos() && self.rng.one_in(60) { self.rng.between(0, 200_000) } else { 0 };
        self.after_ms(duration_ms + extra_ms, SimEvent::ProcessEnds { agent: idx, key, end });
    }

    pub(crate) fn end_process(&mut self, idx: usize, key: AttemptKey, end: ResultKind) {
        if self.agents[idx].processes.remove(&key) {
            self.oracle.process_ended(key, &end);
            let changed = [Some(false), Some(false), Some(true), None][self.rng.below(4) as usize];
            let report = TaskReport { changed, ..TaskReport::default() };
            self.agent_input(idx, Input::Exited { key, end, report });
        }
    }
}
