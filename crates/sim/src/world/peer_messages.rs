//! Messages between the server that drives the run and the server to which an agent is connected. They may be
//! lost, delayed or duplicated; the location of an agent becomes known to all servers eventually.

use stoker_engine::run::Input;
use stoker_engine::session::InFlight;
use stoker_engine::session::server::Input as ServerInput;
use stoker_engine::session::{AttemptKey, AttemptResult, Generation};
use stoker_model::{Micros, NodeIdx};

use super::servers::CommitResult;
use super::{SimEvent, World};
use crate::oracle::RUN;

#[derive(Clone, Debug)]
pub(crate) enum PeerMessage {
    /// To the host of an agent: an input for its session.
    SessionInput {
        agent: usize,
        input: ServerInput,
    },
    Claim {
        agent: usize,
        generation: Generation,
        flights: Vec<InFlight>,
    },
    /// Send an attempt that the agent has not received.
    Start {
        agent: usize,
        key: AttemptKey,
        generation: Generation,
    },
    /// To the driver: the host needs this attempt.
    Deliver {
        host: usize,
        agent: usize,
        key: AttemptKey,
    },
    Started {
        key: AttemptKey,
        at: Micros,
    },
    Finished {
        host: usize,
        agent: usize,
        finished: AttemptResult,
    },
}

impl World<'_> {
    /// Returns the server to which an agent is connected.
    pub(crate) fn host_of(&self, agent: usize) -> Option<usize> {
        self.servers.iter().position(|server| server.is_alive && server.connections[agent].is_some())
    }

    pub(crate) fn send_to_peer(&mut self, server: usize, message: PeerMessage) {
        if self.is_chaos() && self.rng.one_in(15) {
            return;
        }
        let delay_ms = if self.is_chaos() && self.rng.one_in(20) {
            self.rng.between(50, 20_000)
        } else {
            self.rng.between(1, 500)
        };
        if self.is_chaos() && self.rng.one_in(20) {
            let later_ms = delay_ms + self.rng.between(0, 60_000);
            self.after_ms(later_ms, SimEvent::PeerMessage(server, message.clone()));
        }
        self.after_ms(delay_ms, SimEvent::PeerMessage(server, message));
    }

    /// Gives an input to the session of an agent, on whichever server it is.
    pub(crate) fn send_to_host(&mut self, server: usize, agent: usize, input: ServerInput) {
        match self.host_of(agent) {
            Some(host) if host != server => {
                self.send_to_peer(host, PeerMessage::SessionInput { agent, input });
            }
            _ => self.session(server, agent, input),
        }
    }

    /// Sends a message to the driver of the run. A server that wrongly assumes to be the driver detects it on
    /// commit. Without a driver the message is lost; results are resent later.
    pub(crate) fn send_to_driver(&mut self, server: usize, message: PeerMessage) {
        if self.servers[server].drives.is_some() {
            self.handle_peer_message(server, message);
        } else if let Some(driver) = self.driver() {
            self.send_to_peer(driver, message);
        }
    }

    /// Announces that an agent connected to a server. The other servers are notified with a delay, and the
    /// driver claims its attempts.
    pub(crate) fn announce(&mut self, host: usize, agent: usize) {
        for server in 0..self.servers.len() {
            if server != host {
                let delay_ms = self.rng.between(10, 1500);
                self.after_ms(delay_ms, SimEvent::AgentMoved(server, agent));
            }
        }
        self.run_input(host, Input::NodeBack { node: NodeIdx::at(agent) });
        self.claim(host, agent);
    }

    pub(crate) fn agent_moved(&mut self, server: usize, agent: usize) {
        if !self.servers[server].is_alive || self.host_of(agent).is_none_or(|host| host == server) {
            return;
        }
        self.reset_session(server, agent);
        self.run_input(server, Input::NodeBack { node: NodeIdx::at(agent) });
        self.claim(server, agent);
    }

    pub(crate) fn handle_peer_message(&mut self, server: usize, message: PeerMessage) {
        if !self.servers[server].is_alive {
            return;
        }
        match message {
            PeerMessage::SessionInput { agent, input }
                if self.servers[server].connections[agent].is_some() =>
            {
                let dispatched = match &input {
                    ServerInput::Dispatch { key, generation } => Some((*key, *generation)),
                    _ => None,
                };
                match dispatched {
                    Some((key, generation)) => {
                        let outputs = self.servers[server].sessions[agent].step(input, self.now);
                        if !outputs.is_empty() {
                            self.start(server, agent, key, generation);
                        }
                    }
                    None => self.session(server, agent, input),
                }
            }
            PeerMessage::Claim { agent, generation, flights }
                if self.servers[server].connections[agent].is_some() =>
            {
                let session = &mut self.servers[server].sessions[agent];
                let outputs = session.claim(RUN, generation, &flights, self.now);
                self.session_outputs(server, agent, outputs);
            }
            PeerMessage::Start { agent, key, generation } => self.start(server, agent, key, generation),
            PeerMessage::Deliver { host, agent, key } => self.deliver(server, host, agent, key),
            PeerMessage::Started { key, at } => {
                self.run_input(server, Input::AttemptStarted { key, at });
            }
            PeerMessage::Finished { host, agent, finished } => {
                self.handle_result(server, host, agent, finished);
            }
            // The agent has moved to another server, which receives the messages instead.
            PeerMessage::SessionInput { .. } | PeerMessage::Claim { .. } => {}
        }
    }

    fn deliver(&mut self, server: usize, host: usize, agent: usize, key: AttemptKey) {
        let Some((generation, _)) = self.servers[server].drives else { return };
        let generation = Generation(generation);
        if host == server {
            self.start(server, agent, key, generation);
        } else {
            self.send_to_peer(host, PeerMessage::Start { agent, key, generation });
        }
    }

    fn handle_result(&mut self, server: usize, host: usize, agent: usize, finished: AttemptResult) {
        let keys = vec![finished.key];
        let AttemptResult { key, at, end, report } = finished;
        let result = self.step_and_commit(server, Input::AttemptFinished { key, at, end, report });
        if result == CommitResult::Rejected || !self.servers[server].is_alive {
            return;
        }
        let recorded = ServerInput::Recorded { keys };
        if host == server {
            self.session(server, agent, recorded);
        } else {
            self.send_to_host(server, agent, recorded);
        }
    }
}
