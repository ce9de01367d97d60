//! Metrics in the Prometheus (OpenMetrics) format.
//!
//! Each measured component has a file and a line in this module. Label values come from closed sets, so that
//! users cannot create series. A test checks that `docs/metrics.md` documents each metric.

mod agents;
mod api;
mod background;
mod book;
mod bus;
mod database;
mod engine;
mod planner;
mod webhooks;

use std::fmt::Write as _;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use stoker_orchestrator::{Orchestrator, OrchestratorMetrics};
use stoker_services::planning::PlanMetrics;
use stoker_services::webhooks::DeliveryMetrics;

pub(crate) use self::api::count;
use self::book::Book;
use crate::access::control::LoginMetrics;
use crate::limits::RefusalMetrics;

/// The media type of [`Metrics::text`].
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Handles of metrics that other components update.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) plans: PlanMetrics,
    pub(crate) deliveries: DeliveryMetrics,
    pub(crate) orchestrator: OrchestratorMetrics,
    pub(crate) logins: LoginMetrics,
    pub(crate) refusals: RefusalMetrics,
}

/// All metrics of one server; several servers in one process do not share them.
pub(crate) struct Metrics {
    registry: Registry,
    orchestrator: Orchestrator,
    own: OwnMetrics,
}

/// Metrics that are computed at scrape time or updated by HTTP middleware.
struct OwnMetrics {
    agents: agents::Agents,
    api: api::Api,
    background: background::Background,
    bus: bus::Bus,
    database: database::Database,
    engine: engine::Engine,
    planner: planner::Planner,
    webhooks: webhooks::Webhooks,
}

impl OwnMetrics {
    fn new(book: &mut Book, counters: &Counters) -> Self {
        Self {
            agents: agents::Agents::new(book, &counters.orchestrator.agents),
            api: api::Api::new(book, &counters.logins, &counters.refusals),
            background: background::Background::new(book),
            bus: bus::Bus::new(book, &counters.orchestrator.bus),
            database: database::Database::new(book),
            engine: engine::Engine::new(book, &counters.orchestrator.runs),
            planner: planner::Planner::new(book, &counters.plans),
            webhooks: webhooks::Webhooks::new(book, &counters.deliveries),
        }
    }
}

impl Metrics {
    pub(crate) fn new(orchestrator: Orchestrator, counters: &Counters) -> Self {
        let mut book = Book::new();
        let own = OwnMetrics::new(&mut book, counters);
        orchestrator.context.store.observe(own.database.observer());
        Self { registry: book.registry, orchestrator, own }
    }

    /// Renders all current values.
    pub(crate) async fn text(&self) -> String {
        let Self { registry, orchestrator, own } = self;
        let context = &orchestrator.context;
        own.agents.read(orchestrator);
        own.background.read(&orchestrator.background);
        own.bus.read(orchestrator);
        own.database.read(&context.store);
        own.engine.read(orchestrator);
        own.planner.read(&context.services.planning.plans);
        own.webhooks.read(&context.store).await;
        let mut text = String::new();
        if encode(&mut text, registry).is_err() {
            let _ = text.write_str("# EOF\n");
        }
        text
    }
}
