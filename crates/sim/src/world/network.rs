//! The network: delays, duplicates and drops connections, and preserves message order within a connection.

use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::Micros;

use super::{Connection, ConnectionId, SimEvent, World};

impl World<'_> {
    fn delay_ms(&mut self) -> u64 {
        if self.is_chaos() && self.rng.one_in(50) {
            self.rng.between(50, 20_000)
        } else {
            self.rng.between(1, 50)
        }
    }

    pub(crate) fn send_to_agent(&mut self, id: ConnectionId, message: ToAgent) {
        let delay = self.delay_ms() as i64 * 1000;
        let connection = &mut self.connections[id];
        let at = Micros((self.now.0 + delay).max(connection.last_to_agent.0));
        connection.last_to_agent = at;
        let incarnation = self.agents[connection.agent].incarnation;
        if self.is_chaos() && self.rng.one_in(30) {
            let later = Micros(at.0 + self.rng.between(0, 60_000) as i64 * 1000);
            let message = message.clone();
            self.at(later, SimEvent::AtAgent { connection: id, message, is_repeated: true, incarnation });
        }
        self.at(at, SimEvent::AtAgent { connection: id, message, is_repeated: false, incarnation });
    }

    pub(crate) fn send_to_server(&mut self, id: ConnectionId, message: FromAgent) {
        let delay = self.delay_ms() as i64 * 1000;
        let connection = &mut self.connections[id];
        let at = Micros((self.now.0 + delay).max(connection.last_to_server.0));
        connection.last_to_server = at;
        let is_repeatable = matches!(message, FromAgent::Finished(_) | FromAgent::Started { .. });
        if is_repeatable && self.is_chaos() && self.rng.one_in(30) {
            let later = Micros(at.0 + self.rng.between(0, 60_000) as i64 * 1000);
            self.at(later, SimEvent::AtServer(id, message.clone()));
        }
        self.at(at, SimEvent::AtServer(id, message));
    }

    pub(crate) fn connect(&mut self, agent: usize) {
        if self.agents[agent].session.is_none() || self.agents[agent].connection.is_some() {
            return;
        }
        let alive: Vec<usize> = (0..self.servers.len()).filter(|idx| self.servers[*idx].is_alive).collect();
        let Some(server) = self.rng.pick(&alive).copied() else {
            let delay_ms = self.rng.between(500, 5000);
            self.after_ms(delay_ms, SimEvent::Connect(agent));
            return;
        };
        let id = self.connections.len();
        let (last_to_agent, last_to_server) = (self.now, self.now);
        self.connections.push(Connection { agent, server, is_open: true, last_to_agent, last_to_server });
        self.agents[agent].connection = Some(id);
        self.agent_connected(agent);
        self.after_ms(5000, SimEvent::Heartbeat(agent, id));
    }

    pub(crate) fn break_connection(&mut self, id: ConnectionId) {
        if !std::mem::replace(&mut self.connections[id].is_open, false) {
            return;
        }
        let (agent, server) = (self.connections[id].agent, self.connections[id].server);
        if self.agents[agent].connection == Some(id) {
            self.agents[agent].connection = None;
            self.agent_disconnected(agent);
            let delay_ms = self.rng.between(100, 10_000);
            self.after_ms(delay_ms, SimEvent::Connect(agent));
        }
        self.session_disconnected(server, agent, id);
    }

    pub(crate) fn heartbeat(&mut self, agent: usize, id: ConnectionId) {
        if self.connections[id].is_open {
            self.send_to_server(id, FromAgent::Heartbeat);
            self.after_ms(10_000, SimEvent::Heartbeat(agent, id));
        }
    }
}
