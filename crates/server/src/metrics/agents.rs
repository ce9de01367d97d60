//! Agent metrics.

use prometheus_client::metrics::gauge::Gauge;
use stoker_orchestrator::{AgentMetrics, Orchestrator};

use super::book::Book;

pub(super) struct Agents {
    connected: Gauge,
    lost: Gauge,
}

impl Agents {
    pub(super) fn new(book: &mut Book, counters: &AgentMetrics) -> Self {
        let AgentMetrics { connections, losses } = counters;
        let gauges = Self {
            connected: book.gauge("agents_connected", "Agents that are connected to this server"),
            lost: book.gauge("agents_lost", "Agents whose heartbeat timed out"),
        };
        book.enter("agent_connections", "counter", &[], "Agent connections", connections.clone());
        book.enter("agent_losses", "counter", &[], "Agent heartbeat timeouts", losses.clone());
        gauges
    }

    pub(super) fn read(&self, orchestrator: &Orchestrator) {
        let (n_connected, n_lost) = orchestrator.agents.counts();
        self.connected.set(i64::try_from(n_connected).unwrap_or(i64::MAX));
        self.lost.set(i64::try_from(n_lost).unwrap_or(i64::MAX));
    }
}
