//! Requests and logins.

use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use stoker_services::Clock;

use super::book::{Book, Histograms, short_times};
use crate::state::App;

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
struct OutcomeLabels {
    outcome: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitLabels {
    limit: String,
}

/// Why a request was turned away without being looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Too many at once.
    Requests,
    /// Too many plans of one caller.
    Plans,
    /// Too many that watch.
    Streams,
}

impl Refused {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Plans => "plans",
            Self::Streams => "streams",
        }
    }
}

pub(crate) struct Api {
    requests: Family<RequestLabels, Counter>,
    durations: Histograms<RouteLabels>,
    in_flight: Gauge,
    refused: Family<LimitLabels, Counter>,
    logins: Family<OutcomeLabels, Counter>,
}

impl Api {
    pub(super) fn new(book: &mut Book) -> Self {
        Self {
            requests: book.counters("http_requests", &["method", "route", "status"], "Requests answered"),
            durations: book.histograms(
                "http_request_duration_seconds",
                &["method", "route"],
                "Time to answer a request",
                short_times,
            ),
            in_flight: book.gauge("http_requests_in_flight", "Requests that are being answered"),
            refused: book.counters(
                "http_requests_refused",
                &["limit"],
                "Requests turned away by a limit: `requests`, `plans`, `streams`",
            ),
            logins: book.counters("logins", &["outcome"], "Logins with a password"),
        }
    }

    pub(crate) fn login(&self, outcome: &str) {
        self.logins.get_or_create(&OutcomeLabels { outcome: outcome.to_owned() }).inc();
    }

    pub(crate) fn refused(&self, limit: Refused) {
        self.refused.get_or_create(&LimitLabels { limit: limit.as_str().to_owned() }).inc();
    }

    fn request(&self, method: &str, route: &str, status: u16, took: Duration) {
        let (method, route) = (method.to_owned(), route.to_owned());
        let labels = RouteLabels { method: method.clone(), route: route.clone() };
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { method, route, status }).inc();
    }
}

/// A request that is being answered; one that is broken off is over too.
struct InFlight(Gauge);

impl InFlight {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Counts every request under the route it matched, so that ids do not make a series each.
pub(crate) async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = Clock::instant();
    let in_flight = InFlight::new(&app.metrics.api.in_flight);
    let method = request.method().as_str().to_owned();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    drop(in_flight);
    let known = ["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS"].contains(&method.as_str());
    let method = if known { method.as_str() } else { "other" };
    app.metrics.api.request(method, &route, response.status().as_u16(), started.elapsed());
    response
}
