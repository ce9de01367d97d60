//! Numbers about the server, in the format of Prometheus.
//!
//! One file for each part of the server that is counted, and one line here. Labels are words of closed lists: nothing
//! that a user can name makes a series. `docs/metrics.md` describes each of them, which a test sees to.

mod agents;
mod api;
mod book;
mod bus;
mod database;
mod engine;
mod planner;
mod webhooks;

use std::fmt::Write as _;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use stoker_services::Services;

pub(crate) use self::api::{Refused, count};
use self::book::Book;
pub(crate) use self::engine::attempt_end;

use crate::state::App;

/// The media type of [`Metrics::text`].
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All counters of one server; several servers in one process do not share them.
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) agents: agents::Agents,
    pub(crate) api: api::Api,
    pub(crate) bus: bus::Bus,
    pub(crate) database: database::Database,
    pub(crate) engine: engine::Engine,
    pub(crate) planner: planner::Planner,
    pub(crate) webhooks: webhooks::Webhooks,
}

impl Metrics {
    pub(crate) fn new(services: &Services) -> Self {
        let mut book = Book::new();
        Self {
            agents: agents::Agents::new(&mut book),
            api: api::Api::new(&mut book),
            bus: bus::Bus::new(&mut book),
            database: database::Database::new(&mut book),
            engine: engine::Engine::new(&mut book),
            planner: planner::Planner::new(&mut book, &services.planning.metrics),
            webhooks: webhooks::Webhooks::new(&mut book, &services.webhooks.metrics),
            registry: book.registry,
        }
    }

    /// Everything, as it is now.
    pub(crate) async fn text(app: &App) -> String {
        let metrics = &app.metrics;
        metrics.agents.read(app);
        metrics.bus.read(app);
        metrics.database.read(app);
        metrics.engine.read(app);
        metrics.planner.read(app);
        metrics.webhooks.read(app).await;
        let mut text = String::new();
        if encode(&mut text, &metrics.registry).is_err() {
            let _ = text.write_str("# EOF\n");
        }
        text
    }
}
