//! The side of a server that has an agent, where whoever carries a run out may be another server.
//!
//! Between servers a message can be lost, come twice or late. So whoever carries a run out claims from time to time what of
//! it is in flight with the agent, all of it at once; and this machine makes up for what was lost on the way: what the agent
//! has not got is asked for, what it said of those attempts is said again, what nobody claims is cancelled. Ends are said
//! again until they are recorded.

use stoker_model::{Micros, RunId};

use super::server::{Input, Output, ServerSession, Settings, forgotten};
use super::told::Told;
use super::{AttemptKey, Finished, Generation};
use crate::run::InFlight;

/// The conversation with one agent, and what of it may have to be said again.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSession {
    session: ServerSession,
    told: Told,
}

impl HostSession {
    /// A session with an agent that was not heard of yet. It is not lost before it had time to come.
    pub fn new(settings: Settings, now: Micros) -> (Self, Vec<Output>) {
        let (session, outputs) = ServerSession::new(settings, now);
        (Self { session, told: Told::default() }, outputs)
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

    /// What is to be done about something that happened.
    pub fn step(&mut self, input: Input, now: Micros) -> Vec<Output> {
        self.told.note(&input, now);
        self.session.step(input, now)
    }

    /// An attempt was sent to the agent.
    pub fn sent(&mut self, key: AttemptKey) {
        self.told.sent(key);
    }

    /// Whoever carries a run out says what of it is in flight with the agent: all of it, and nothing else.
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
        outputs.extend(self.step(Input::RunIs { run, generation: Some(generation) }, now));
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
        let is_sent = self.told.is_sent(key);
        if let Some(how) = cancel {
            outputs.extend(self.step(Input::Cancel { key, generation, how }, now));
        } else {
            // What the agent has need not be sent again; what it has not got was perhaps asked for in vain.
            _ = self.step(Input::Dispatch { key, generation }, now);
            if !is_sent && self.is_connected() {
                outputs.push(if is_started {
                    Output::Finished(forgotten(key, now))
                } else {
                    Output::Deliver { key, generation }
                });
            }
        }
        if is_started {
            _ = self.step(Input::Begun { key }, now);
        }
        if let Some(finished) = self.told.finished(key) {
            outputs.push(Output::Finished(finished.clone()));
        } else if let Some(at) = self.told.started(key).filter(|_| !is_started) {
            outputs.push(Output::Started { key, at });
        }
    }

    /// Ends that nobody has recorded for a while, to be told again.
    pub fn owed(&mut self, now: Micros) -> Vec<Finished> {
        self.told.owed(now).collect()
    }
}
