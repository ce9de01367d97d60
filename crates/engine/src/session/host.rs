//! The session on the server to which the agent is connected, while another server may drive the run.
//!
//! Messages between servers may be lost, duplicated or delayed. Therefore the driver periodically claims the
//! complete set of its attempts in flight with the agent, and this machine reconciles: it requests attempts
//! that the agent has not received, repeats reports about claimed attempts, and cancels attempts that are not
//! claimed. Results are resent until they are recorded.

use stoker_model::{Micros, RunId};

use super::attempt_log::AttemptLog;
use super::server::{Input, Output, ServerSession, SessionSettings, interrupted};
use super::{AttemptKey, AttemptResult, Generation, InFlight};

/// Session with one agent, and a log of the messages that may have to be resent.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSession {
    session: ServerSession,
    log: AttemptLog,
}

impl HostSession {
    /// Creates a session with an agent that has not connected yet. It counts as lost only after the silence
    /// timeout.
    pub fn new(settings: SessionSettings, now: Micros) -> (Self, Vec<Output>) {
        let (session, outputs) = ServerSession::new(settings, now);
        (Self { session, log: AttemptLog::default() }, outputs)
    }

    pub fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    pub fn is_lost(&self) -> bool {
        self.session.is_lost()
    }

    pub fn in_flight(&self) -> impl Iterator<Item = AttemptKey> {
        self.session.in_flight()
    }

    /// Processes an input.
    pub fn step(&mut self, input: Input, now: Micros) -> Vec<Output> {
        self.log.record(&input, now);
        self.session.step(input, now)
    }

    /// Records that an attempt was sent to the agent.
    pub fn mark_sent(&mut self, key: AttemptKey) {
        self.log.mark_sent(key);
    }

    /// Reconciles with the driver's claim: the complete set of the run's attempts in flight with the agent.
    pub fn claim(
        &mut self,
        run: RunId,
        generation: Generation,
        flights: &[InFlight],
        now: Micros,
    ) -> Vec<Output> {
        let mut outputs = Vec::new();
        for flight in flights {
            self.claim_one(*flight, generation, now, &mut outputs);
        }
        outputs.extend(self.step(Input::RunStatus { run, generation: Some(generation) }, now));
        outputs
    }

    fn claim_one(
        &mut self,
        flight: InFlight,
        generation: Generation,
        now: Micros,
        outputs: &mut Vec<Output>,
    ) {
        let InFlight { key, is_started, cancel } = flight;
        let is_sent = self.log.is_sent(key);
        if let Some(how) = cancel {
            outputs.extend(self.step(Input::Cancel { key, generation, how }, now));
        } else {
            // Do not resend what the agent has. The first request of what it does not have may have been
            // lost.
            _ = self.step(Input::Dispatch { key, generation }, now);
            if !is_sent && self.is_connected() {
                outputs.push(if is_started {
                    Output::Finished(interrupted(key, now))
                } else {
                    Output::Deliver { key, generation }
                });
            }
        }
        if is_started {
            _ = self.step(Input::Started { key }, now);
        }
        if let Some(finished) = self.log.result(key) {
            outputs.push(Output::Finished(finished.clone()));
        } else if let Some(at) = self.log.started_at(key).filter(|_| !is_started) {
            outputs.push(Output::Started { key, at });
        }
    }

    /// Returns the results that were not recorded in time, to be resent to the driver.
    pub fn unrecorded_results(&mut self, now: Micros) -> Vec<AttemptResult> {
        self.log.due_resends(now).collect()
    }
}
