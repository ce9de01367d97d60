//! Numbers about the server, in the format of Prometheus.

use std::fmt::Write as _;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::clock::Clock;
use crate::state::App;

/// The media type of [`Metrics::text`].
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    method: String,
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LoginLabels {
    outcome: String,
}

/// All counters of one server; several servers in one process do not share them.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram>,
    logins: Family<LoginLabels, Counter>,
    agents: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("stoker");
        let requests = Family::default();
        registry.register("http_requests", "Requests answered", requests.clone());
        let durations = Family::new_with_constructor(histogram as fn() -> Histogram);
        registry.register("http_request_duration_seconds", "Time to answer a request", durations.clone());
        let logins = Family::default();
        registry.register("logins", "Logins with a password, by outcome", logins.clone());
        let agents = Gauge::default();
        registry.register("agents_connected", "Agents that are connected to this server", agents.clone());
        Self { registry, requests, durations, logins, agents }
    }

    pub(crate) fn login(&self, outcome: &str) {
        self.logins.get_or_create(&LoginLabels { outcome: outcome.to_owned() }).inc();
    }

    fn request(&self, method: &str, route: &str, status: u16, took: Duration) {
        let (method, route) = (method.to_owned(), route.to_owned());
        let labels = RouteLabels { method: method.clone(), route: route.clone() };
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { method, route, status }).inc();
    }

    pub(crate) fn text(&self, n_agents: usize) -> String {
        self.agents.set(i64::try_from(n_agents).unwrap_or(i64::MAX));
        let mut text = String::new();
        if encode(&mut text, &self.registry).is_err() {
            let _ = text.write_str("# EOF\n");
        }
        text
    }
}

fn histogram() -> Histogram {
    // A tenth of a millisecond to three seconds.
    Histogram::new(exponential_buckets(0.0001, 2.0, 16))
}

/// Counts every request under the route it matched, so that ids do not make a series each.
pub(crate) async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = Clock::instant();
    let method = request.method().as_str().to_owned();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    let known = ["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS"].contains(&method.as_str());
    let method = if known { method.as_str() } else { "other" };
    app.metrics.request(method, &route, response.status().as_u16(), started.elapsed());
    response
}
