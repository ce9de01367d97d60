//! How a request is followed to the tasks it leads to.
//!
//! A caller may send a `traceparent` (W3C Trace Context); otherwise a trace begins here. Its id is on every line that is
//! logged for the request, kept with the run that the request starts, and told to the agents, whose lines and tasks
//! have it too. Where somebody collects traces, a request is a span, and everything that follows from it is under that.

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use stoker_services::random;
use stoker_services::trace::within;
use stoker_traces::{Kind, Span, Traceparent, Tracer};
use tracing::Instrument as _;

use crate::access::caller::Login;
use crate::web_ui;

const HEADER: HeaderName = HeaderName::from_static("traceparent");
/// The same in an answer, without what only programs want.
const ANSWER: HeaderName = HeaderName::from_static("x-trace-id");
/// What is asked all the time, by nobody who wants to know what became of it.
const UNTRACED: &[&str] = &["/api/v1/health", "/api/v1/metrics", web_ui::PLACE];

fn begin() -> Option<Traceparent> {
    let trace = u128::from_ne_bytes(random::bytes().ok()?);
    Traceparent::new(trace, u64::from_ne_bytes(random::bytes().ok()?))
}

/// Gives a request its trace.
pub(crate) async fn follow(State(tracer): State<Tracer>, request: Request, next: Next) -> Response {
    let given = request.headers().get(HEADER).and_then(|value| Traceparent::parse(value.to_str().ok()?));
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let mut span = span_of(&tracer, &request, &route, given);
    let Some(trace) = span.context().or(given).or_else(begin) else { return next.run(request).await };
    let id = trace.id();
    let logged = tracing::info_span!("request", trace_id = id, method = %request.method(), route);
    let mut response = within(Some(trace), next.run(request)).instrument(logged).await;
    span.set("http.response.status_code", i64::from(response.status().as_u16()));
    if response.status().is_server_error() {
        span.fail("the server failed");
    }
    if let Ok(shown) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(ANSWER, shown);
    }
    response
}

/// The request as a span: what was asked for and by whom, and nothing of what was sent.
fn span_of(tracer: &Tracer, request: &Request, route: &str, under: Option<Traceparent>) -> Span {
    if !tracer.is_on() || UNTRACED.contains(&route) {
        return Span::default();
    }
    let method = request.method().as_str();
    let mut span = tracer.begin(Kind::Server, format!("{method} {route}"), under);
    span.set("http.request.method", method.to_owned());
    span.set("http.route", route.to_owned());
    if let Some(Login::Is(caller)) = request.extensions().get::<Login>() {
        span.set("user.name", caller.user_name.clone());
    }
    span
}
