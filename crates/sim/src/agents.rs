//! Agents: the real session, a disk that keeps what was written, processes that end, die or survive.

use std::collections::{BTreeMap, BTreeSet};

use stoker_engine::session::agent::{AgentSession, Identity, Input, Limits, Output, Record, Safe};
use stoker_engine::session::{Attempt, AttemptKey, End, ToAgent};
use stoker_model::{JsonMap, Micros};

use crate::world::{ConnectionId, Happening, Sabotage, World};

pub(crate) struct Agent {
    identity: Identity,
    /// None while it is down.
    pub(crate) session: Option<AgentSession>,
    /// How often it was started; what belongs to an earlier life is lost.
    pub(crate) life: u32,
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) is_disk_full: bool,
    journal: Vec<Record>,
    /// So many records of the journal survive a loss of power.
    n_safe: usize,
    /// Since when there are others among them that are to be safe soon.
    waits_for_sync_since: Option<Micros>,
    /// Asked to be written, not safe yet.
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
            identity: Identity { node: uid.to_owned(), version: "1".to_owned() },
            session: None,
            life: 0,
            connection: None,
            is_disk_full: false,
            journal: Vec::new(),
            n_safe: 0,
            waits_for_sync_since: None,
            writes: BTreeMap::new(),
            processes: BTreeSet::new(),
        }
    }

    fn sync(&mut self) {
        self.n_safe = self.journal.len();
        self.waits_for_sync_since = None;
    }

    pub(crate) fn owes_nothing(&self) -> bool {
        let is_quiet =
            |session: &AgentSession| session.n_unacknowledged() == 0 && session.running().next().is_none();
        self.session.as_ref().is_some_and(is_quiet) && self.processes.is_empty()
    }
}

/// So long after an end was written it is safe, if nothing made it so before.
const SYNC_WITHIN_MICROS: i64 = 100_000;

/// Small, so that journals are written anew often and results pile up.
const LIMITS: Limits = Limits { n_unacknowledged_max: 2, n_ended_runs_max: 3, n_slack_records: 4 };

impl World<'_> {
    pub(crate) fn agent_starts(&mut self, idx: usize) {
        let agent = &mut self.agents[idx];
        if agent.session.is_some() {
            return;
        }
        agent.life += 1;
        // What is read is made safe before anything is done about it.
        agent.sync();
        let journal = match self.sabotage {
            Sabotage::ForgottenJournal => Vec::new(),
            _ => agent.journal.clone(),
        };
        let (session, outputs) =
            AgentSession::restarted(agent.identity.clone(), LIMITS, journal, &agent.processes, self.now);
        agent.session = Some(session);
        self.agent_outputs(idx, outputs);
        let delay_ms = self.dice.between(10, 2000);
        self.after_ms(delay_ms, Happening::Connect(idx));
    }

    pub(crate) fn agent_crashes(&mut self, idx: usize) {
        if self.agents[idx].session.take().is_none() {
            return;
        }
        self.n_agent_crashes += 1;
        // What was on its way to the disk may have come there, from the front.
        let writes = std::mem::take(&mut self.agents[idx].writes);
        let n_arrived = self.dice.below(writes.len() as u64 + 1) as usize;
        if !self.agents[idx].is_disk_full {
            for write in writes.into_values().take(n_arrived) {
                self.keep(idx, write);
            }
        }
        // Nobody is left who would.
        self.agents[idx].waits_for_sync_since = None;
        if self.dice.one_in(2) {
            self.agents[idx].processes.clear();
        }
        if let Some(connection) = self.agents[idx].connection.take() {
            self.break_connection(connection);
        }
        let delay_ms = self.dice.between(100, 60_000);
        self.after_ms(delay_ms, Happening::AgentStarts(idx));
    }

    /// What was not safe on the disk may be gone, from the end, and no process survives. Also after the death of the agent.
    pub(crate) fn power_is_lost(&mut self, idx: usize) {
        self.sync_in_time(idx);
        self.agent_crashes(idx);
        let agent = &mut self.agents[idx];
        agent.processes.clear();
        let n_left = self.dice.between(agent.n_safe as u64, agent.journal.len() as u64) as usize;
        for record in agent.journal.split_off(n_left) {
            match record {
                Record::Ended(finished) => self.truth.forgotten(finished.key),
                Record::Accepted { key, .. } => self.truth.promise_is_lost(key),
                _ => {}
            }
        }
        agent.n_safe = n_left;
    }

    pub(crate) fn agent_connected(&mut self, idx: usize) {
        self.agent(idx, Input::Connected { facts: JsonMap::new() });
    }

    pub(crate) fn agent_disconnected(&mut self, idx: usize) {
        self.agent(idx, Input::Disconnected);
    }

    pub(crate) fn arrives_at_agent(&mut self, id: ConnectionId, message: ToAgent, is_repeated: bool) {
        let connection = &self.connections[id];
        let agent = connection.agent;
        let is_current = connection.is_open && self.agents[agent].connection == Some(id);
        if is_current || is_repeated {
            self.agent(agent, Input::Message(message));
        }
    }

    fn agent(&mut self, idx: usize, input: Input) {
        let Some(session) = &mut self.agents[idx].session else { return };
        let outputs = session.step(input, self.now);
        self.agent_outputs(idx, outputs);
    }

    fn agent_outputs(&mut self, idx: usize, outputs: Vec<Output>) {
        let life = self.agents[idx].life;
        for output in outputs {
            if self.is_chaos() && self.dice.one_in(300) {
                self.agent_crashes(idx);
            }
            if self.agents[idx].session.is_none() || self.agents[idx].life != life {
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
                Output::Start(attempt) => self.process_begins(idx, &attempt),
                Output::Kill(key) => {
                    if self.agents[idx].processes.contains(&key) {
                        let delay_ms = self.dice.between(1, 5000);
                        self.after_ms(
                            delay_ms,
                            Happening::ProcessEnds { agent: idx, key, end: End::Cancelled },
                        );
                    }
                }
                Output::HeartbeatEvery { .. } | Output::Ignored { .. } => {}
            }
        }
    }

    // The disk.

    fn write(&mut self, agent: usize, seq: u64, write: Write) {
        let life = self.agents[agent].life;
        if self.sabotage == Sabotage::EarlyStart && matches!(write, Write::Append(Record::Accepted { .. })) {
            self.after_ms(0, Happening::Written { agent, life, seq });
            return;
        }
        self.agents[agent].writes.insert(seq, write);
        let delay_ms = self.dice.between(0, 20);
        self.after_ms(delay_ms, Happening::Written { agent, life, seq });
    }

    /// Everything up to this number reaches the disk together, as it does when a file is synchronised.
    pub(crate) fn written(&mut self, idx: usize, life: u32, seq: u64) {
        if self.agents[idx].life != life || self.agents[idx].session.is_none() {
            return;
        }
        if self.sabotage == Sabotage::EarlyStart && !self.agents[idx].writes.contains_key(&seq) {
            self.agent(idx, Input::Written { seq });
            return;
        }
        while let Some((first, write)) = self.agents[idx].writes.first_key_value() {
            if *first > seq || self.agents[idx].life != life {
                return;
            }
            let (first, write) = (*first, write.clone());
            self.agents[idx].writes.remove(&first);
            if self.agents[idx].is_disk_full {
                self.agent(
                    idx,
                    Input::WriteFailed { seq: first, message: "no space left on device".to_owned() },
                );
            } else {
                self.keep(idx, write);
                self.agent(idx, Input::Written { seq: first });
            }
        }
    }

    fn keep(&mut self, idx: usize, write: Write) {
        self.sync_in_time(idx);
        let mut is_worst_moment = false;
        let agent = &mut self.agents[idx];
        let is_safe = match write {
            Write::Append(record) => {
                let safe = record.safe();
                if let Record::Ended(finished) = &record {
                    self.truth.journaled(finished.key, &finished.end);
                }
                if safe == Safe::Soon {
                    agent.waits_for_sync_since.get_or_insert(self.now);
                    is_worst_moment = self.now < self.chaos_until && self.dice.one_in(40);
                }
                agent.journal.push(record);
                safe == Safe::First && self.sabotage != Sabotage::UnsafePromise
            }
            Write::Replace(records) => {
                agent.journal = records;
                true
            }
        };
        if is_safe {
            agent.sync();
        }
        if is_worst_moment {
            let delay_ms = self.dice.between(0, 120);
            self.after_ms(delay_ms, Happening::PowerLoss(idx));
        }
    }

    fn sync_in_time(&mut self, idx: usize) {
        let agent = &mut self.agents[idx];
        let is_time = |since: Micros| self.now.0 - since.0 >= SYNC_WITHIN_MICROS;
        if agent.waits_for_sync_since.is_some_and(is_time) {
            agent.sync();
        }
    }

    // Processes.

    fn process_begins(&mut self, idx: usize, attempt: &Attempt) {
        let key = attempt.key;
        self.n_executions += 1;
        let others: Vec<AttemptKey> =
            self.agents.iter().flat_map(|agent| &agent.processes).copied().collect();
        self.truth.process_begins(key, &others);
        self.agents[idx].processes.insert(key);
        let lasts_ms =
            if self.dice.one_in(10) { self.dice.between(0, 120_000) } else { self.dice.between(0, 8000) };
        let end = match self.dice.below(12) {
            0 | 1 => End::Failed { message: "exit code 1".to_owned() },
            _ => End::Succeeded,
        };
        let (lasts_ms, end) =
            if lasts_ms > attempt.timeout_ms { (attempt.timeout_ms, End::TimedOut) } else { (lasts_ms, end) };
        // Once in a while something cannot be killed for long after its time.
        let extra_ms =
            if self.is_chaos() && self.dice.one_in(60) { self.dice.between(0, 200_000) } else { 0 };
        self.after_ms(lasts_ms + extra_ms, Happening::ProcessEnds { agent: idx, key, end });
    }

    pub(crate) fn process_ends(&mut self, idx: usize, key: AttemptKey, end: End) {
        if self.agents[idx].processes.remove(&key) {
            self.truth.process_ended(key, &end);
            self.agent(idx, Input::Exited { key, end, summary: JsonMap::new() });
        }
    }
}
