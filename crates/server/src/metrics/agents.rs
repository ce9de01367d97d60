//! Agents.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use super::book::Book;
use crate::state::App;

pub(crate) struct Agents {
    connected: Gauge,
    lost: Gauge,
    pub(crate) connections: Counter,
    pub(crate) losses: Counter,
}

impl Agents {
    pub(super) fn new(book: &mut Book) -> Self {
        Self {
            connected: book.gauge("agents_connected", "Agents that are connected to this server"),
            lost: book.gauge("agents_lost", "Agents of which nothing was heard for too long"),
            connections: book.counter("agent_connections", "Connections that agents made"),
            losses: book.counter("agent_losses", "Agents that were lost"),
        }
    }

    pub(super) fn read(&self, app: &App) {
        let (n_connected, n_lost) = app.agents.counts();
        self.connected.set(i64::try_from(n_connected).unwrap_or(i64::MAX));
        self.lost.set(i64::try_from(n_lost).unwrap_or(i64::MAX));
    }
}
