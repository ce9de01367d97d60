//! Request and login metrics.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use stoker_services::Clock;

use super::Metrics;
use super::book::{Book, Histograms, short_times};
use crate::access::control::LoginMetrics;
use crate::limits::RefusalMetrics;

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

pub(super) struct Api {
    requests: Family<RequestLabels, Counter>,
    durations: Histograms<RouteLabels>,
    in_flight: Gauge,
}

impl Api {
    pub(super) fn new(book: &mut Book, logins: &LoginMetrics, refusals: &RefusalMetrics) -> Self {
        book.enter("logins", "counter", &["outcome"], "Logins with a password", logins.logins.clone());
        book.enter(
            "http_requests_refused",
            "counter",
            &["limit"],
            "Requests rejected by a limit: `requests`, `plans`, `streams`",
            refusals.refused.clone(),
        );
        Self {
            requests: book.counters("http_requests", &["method", "route", "status"], "Completed requests"),
            durations: book.histograms(
                "http_request_duration_seconds",
                &["method", "route"],
                "Request duration",
                short_times,
            ),
            in_flight: book.gauge("http_requests_in_flight", "Requests in flight"),
        }
    }

    fn request(&self, method: &str, route: &str, status: u16, took: Duration) {
        let (method, route) = (method.to_owned(), route.to_owned());
        let labels = RouteLabels { method: method.clone(), route: route.clone() };
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { method, route, status }).inc();
    }
}

/// A request in flight; the gauge is decremented on drop, so that aborted requests are counted correctly.
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

/// Counts every request by its matched route, so that ids do not create series.
pub(crate) async fn count(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let started = Clock::instant();
    let in_flight = InFlight::new(&metrics.own.api.in_flight);
    let method = request.method().as_str().to_owned();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    drop(in_flight);
    let is_standard = ["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS"].contains(&method.as_str());
    let method = if is_standard { method.as_str() } else { "other" };
    metrics.own.api.request(method, &route, response.status().as_u16(), started.elapsed());
    response
}
