//! How a request is followed to the tasks it leads to.
//!
//! A caller may send a `traceparent` (W3C Trace Context); otherwise a trace begins here. Its id is on every line that is
//! logged for the request, kept with the run that the request starts, and told to the agents, whose lines and tasks
//! have it too.

use std::fmt;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use stoker_model::Json;
use tracing::Instrument as _;

use crate::random;

const HEADER: HeaderName = HeaderName::from_static("traceparent");
/// The same in an answer, without what only programs want.
const ANSWER: HeaderName = HeaderName::from_static("x-trace-id");
/// Where it is kept with a run.
const KEY: &str = "traceparent";

/// A trace, and whose part in it comes before ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    id: String,
    parent: String,
    flags: String,
}

tokio::task_local! {
    static CURRENT: Trace;
}

impl Trace {
    /// `00-<32 digits>-<16 digits>-<2 digits>`; what is not so is no trace and does no harm.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let version = digits(parts.next()?, 2)?;
        let trace = Self {
            id: digits(parts.next()?, 32)?,
            parent: digits(parts.next()?, 16)?,
            flags: digits(parts.next()?, 2)?,
        };
        // Later versions may say more; the first one says no more than this.
        let is_whole = version != "ff" && (version != "00" || parts.next().is_none());
        let is_zero = |text: &str| text.bytes().all(|byte| byte == b'0');
        (is_whole && !is_zero(&trace.id) && !is_zero(&trace.parent)).then_some(trace)
    }

    fn begin() -> Option<Self> {
        Some(Self {
            id: random::hex_text(32).ok()?,
            parent: random::hex_text(16).ok()?,
            flags: "01".to_owned(),
        })
    }

    /// The one of the request that is being answered.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Keeps it with what a run was asked for.
    pub(crate) fn put(&self, options: &mut Json) {
        if let Json::Object(map) = options {
            map.insert(KEY.to_owned(), Json::from(self.to_string()));
        }
    }

    pub(crate) fn of(options: &Json) -> Option<Self> {
        Self::parse(options.get(KEY)?.as_str()?)
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{}", self.id, self.parent, self.flags)
    }
}

fn digits(text: &str, n_digits: usize) -> Option<String> {
    let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (text.len() == n_digits && is_hex).then(|| text.to_owned())
}

/// Gives a request its trace.
pub(crate) async fn follow(request: Request, next: Next) -> Response {
    let given = request.headers().get(HEADER).and_then(|value| Trace::parse(value.to_str().ok()?));
    let Some(trace) = given.or_else(Trace::begin) else { return next.run(request).await };
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str);
    let span = tracing::info_span!("request", trace_id = trace.id(), method = %request.method(), route);
    let shown = HeaderValue::from_str(trace.id());
    let mut response = CURRENT.scope(trace, next.run(request)).instrument(span).await;
    if let Ok(shown) = shown {
        response.headers_mut().insert(ANSWER, shown);
    }
    response
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_is_given_is_passed_on() {
        let trace = Trace::parse(GIVEN).unwrap();
        assert_eq!(trace.id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(trace.to_string(), GIVEN);
        let mut options = json!({"version": 1});
        trace.put(&mut options);
        assert_eq!(Trace::of(&options), Some(trace));
        assert_eq!(Trace::of(&json!({})), None);
        let later = GIVEN.replacen("00-", "01-", 1) + "-more";
        assert!(Trace::parse(&later).is_some());
    }

    #[test]
    fn nonsense_is_no_trace() {
        for wrong in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        ] {
            assert_eq!(Trace::parse(wrong), None, "{wrong}");
        }
        assert!(Trace::begin().is_some_and(|trace| Trace::parse(&trace.to_string()) == Some(trace)));
    }
}
