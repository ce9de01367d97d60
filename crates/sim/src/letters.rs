//! What a server that carries the run out and one that has an agent tell each other. Letters are lost, late and repeated; where
//! an agent is becomes known to all, some time.

use stoker_engine::run::{InFlight, Input};
use stoker_engine::session::server::Input as SessionInput;
use stoker_engine::session::{AttemptKey, Finished, Generation};
use stoker_model::Micros;

use crate::servers::Kept;
use crate::world::{Happening, RUN, World};

#[derive(Clone, Debug)]
pub(crate) enum Letter {
    /// To the host of an agent. What is to be carried out comes with all that it needs.
    Tell {
        agent: usize,
        input: SessionInput,
    },
    Claim {
        agent: usize,
        generation: Generation,
        flights: Vec<InFlight>,
    },
    /// What the agent had not got.
    Start {
        agent: usize,
        key: AttemptKey,
        generation: Generation,
    },
    /// To whoever carries the run out.
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
        finished: Finished,
    },
}

impl World<'_> {
    /// The server that has an agent.
    pub(crate) fn host_of(&self, agent: usize) -> Option<usize> {
        self.servers.iter().position(|server| server.is_alive && server.connections[agent].is_some())
    }

    pub(crate) fn write_to(&mut self, server: usize, letter: Letter) {
        if self.is_chaos() && self.dice.one_in(15) {
            return;
        }
        let delay_ms = if self.is_chaos() && self.dice.one_in(20) {
            self.dice.between(50, 20_000)
        } else {
            self.dice.between(1, 500)
        };
        if self.is_chaos() && self.dice.one_in(20) {
            let later_ms = delay_ms + self.dice.between(0, 60_000);
            self.after_ms(later_ms, Happening::Letter(server, letter.clone()));
        }
        self.after_ms(delay_ms, Happening::Letter(server, letter));
    }

    /// Tells the session with an agent, wherever it is.
    pub(crate) fn tell_host(&mut self, server: usize, agent: usize, input: SessionInput) {
        match self.host_of(agent) {
            Some(host) if host != server => self.write_to(host, Letter::Tell { agent, input }),
            _ => self.session(server, agent, input),
        }
    }

    /// Tells whoever has the run. One that thinks so finds out; where nobody has it, an end is said again.
    pub(crate) fn tell_driver(&mut self, server: usize, letter: Letter) {
        if self.servers[server].drives.is_some() {
            self.letter(server, letter);
        } else if let Some(driver) = self.driver() {
            self.write_to(driver, letter);
        }
    }

    /// An agent has come to a server: all others know after a while, and whoever has the run claims what is in flight.
    pub(crate) fn announce(&mut self, host: usize, agent: usize) {
        for server in 0..self.servers.len() {
            if server != host {
                let delay_ms = self.dice.between(10, 1500);
                self.after_ms(delay_ms, Happening::Placed(server, agent));
            }
        }
        self.run_input(host, Input::NodeBack { node: agent as u32 });
        self.claim(host, agent);
    }

    pub(crate) fn placed(&mut self, server: usize, agent: usize) {
        if !self.servers[server].is_alive || self.host_of(agent).is_none_or(|host| host == server) {
            return;
        }
        self.begin_anew(server, agent);
        self.run_input(server, Input::NodeBack { node: agent as u32 });
        self.claim(server, agent);
    }

    pub(crate) fn letter(&mut self, server: usize, letter: Letter) {
        if !self.servers[server].is_alive {
            return;
        }
        match letter {
            Letter::Tell { agent, input } if self.servers[server].connections[agent].is_some() => {
                let dispatched = match &input {
                    SessionInput::Dispatch { key, generation } => Some((*key, *generation)),
                    _ => None,
                };
                match dispatched {
                    Some((key, generation)) => {
                        let wanted = self.servers[server].sessions[agent].step(input, self.now);
                        if !wanted.is_empty() {
                            self.start(server, agent, key, generation);
                        }
                    }
                    None => self.session(server, agent, input),
                }
            }
            Letter::Claim { agent, generation, flights }
                if self.servers[server].connections[agent].is_some() =>
            {
                let session = &mut self.servers[server].sessions[agent];
                let outputs = session.claim(RUN, generation, &flights, self.now);
                self.session_outputs(server, agent, outputs);
            }
            Letter::Start { agent, key, generation } => self.start(server, agent, key, generation),
            Letter::Deliver { host, agent, key } => self.deliver(server, host, agent, key),
            Letter::Started { key, at } => {
                self.run_input(server, Input::AttemptStarted { key, at });
            }
            Letter::Finished { host, agent, finished } => self.finished(server, host, agent, finished),
            // The agent is with somebody else by now, who was told.
            Letter::Tell { .. } | Letter::Claim { .. } => {}
        }
    }

    fn deliver(&mut self, server: usize, host: usize, agent: usize, key: AttemptKey) {
        let Some((generation, _)) = self.servers[server].drives else { return };
        let generation = Generation(generation);
        if host == server {
            self.start(server, agent, key, generation);
        } else {
            self.write_to(host, Letter::Start { agent, key, generation });
        }
    }

    fn finished(&mut self, server: usize, host: usize, agent: usize, finished: Finished) {
        let keys = vec![finished.key];
        let Finished { key, at, end, summary } = finished;
        let kept = self.take(server, Input::AttemptFinished { key, at, end, summary });
        if kept == Kept::No || !self.servers[server].is_alive {
            return;
        }
        let recorded = SessionInput::Recorded { keys };
        if host == server {
            self.session(server, agent, recorded);
        } else {
            self.tell_host(server, agent, recorded);
        }
    }
}
