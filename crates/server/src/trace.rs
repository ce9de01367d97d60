//! Traces of requests.
//!
//! A caller may send a `traceparent` (W3C Trace Context); otherwise a new trace begins here. Its id is on
//! every log line of the request, stored with the run that the request starts, and sent to the agents. With
//! trace collection enabled, a request is a span, and the spans of its run are its children.

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use stoker_services::random;
use stoker_services::trace::within;
use stoker_traces::{SpanKind, TraceSpan, Traceparent, Tracer};
use tracing::Instrument as _;

use crate::access::caller::Login;
use crate::web_ui;

const HEADER: HeaderName = HeaderName::from_static("traceparent");
/// Response header with the trace id.
const TRACE_ID_HEADER: HeaderName = HeaderName::from_static("x-trace-id");
/// Routes that are polled and therefore not traced.
const UNTRACED: &[&str] = &["/api/v1/health", "/api/v1/metrics", web_ui::ROUTE];

fn begin() -> Option<Traceparent> {
    let trace = u128::from_ne_bytes(random::bytes().ok()?);
    Traceparent::new(trace, u64::from_ne_bytes(random::bytes().ok()?))
}

/// Middleware that assigns a trace to each request.
pub(crate) async fn follow(State(tracer): State<Tracer>, request: Request, next: Next) -> Response {
    let parent = request.headers().get(HEADER).and_then(|value| Traceparent::parse(value.to_str().ok()?));
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let mut span = span_of(&tracer, &request, &route, parent);
    let Some(trace) = span.context().or(parent).or_else(begin) else { return next.run(request).await };
    let id = trace.id();
    let logged = tracing::info_span!("request", trace_id = id, method = %request.method(), route);
    let mut response = within(Some(trace), next.run(request)).instrument(logged).await;
    span.set_attribute("http.response.status_code", i64::from(response.status().as_u16()));
    if response.status().is_server_error() {
        span.fail("server error");
    }
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(TRACE_ID_HEADER, value);
    }
    response
}

/// Returns the span of a request with route and caller, without request data.
fn span_of(tracer: &Tracer, request: &Request, route: &str, under: Option<Traceparent>) -> TraceSpan {
    if !tracer.is_enabled() || UNTRACED.contains(&route) {
        return TraceSpan::default();
    }
    let method = request.method().as_str();
    let mut span = tracer.begin(SpanKind::Server, format!("{method} {route}"), under);
    span.set_attribute("http.request.method", method.to_owned());
    span.set_attribute("http.route", route.to_owned());
    if let Some(Login::Is(caller)) = request.extensions().get::<Login>() {
        span.set_attribute("user.name", caller.user_name.clone());
    }
    span
}
