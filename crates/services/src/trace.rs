//! Trace of the current work (W3C Trace Context).
//!
//! The server sets the trace of a request. A run stores it in its options, so that the driver continues the same
//! trace, on whichever server it runs.

use std::future::Future;

use stoker_model::Json;
use stoker_traces::Traceparent;

/// Run option that stores the trace.
const KEY: &str = "traceparent";

tokio::task_local! {
    static CURRENT: Traceparent;
}

/// Returns the trace of the current task, if any.
pub fn current() -> Option<Traceparent> {
    CURRENT.try_with(|trace| *trace).ok()
}

/// Runs a future as a part of a trace.
pub async fn within<T>(trace: Option<Traceparent>, work: impl Future<Output = T>) -> T {
    match trace {
        Some(trace) => CURRENT.scope(trace, work).await,
        None => work.await,
    }
}

/// Stores the current trace in the options of a run.
pub fn put(options: &mut Json) {
    if let (Some(trace), Json::Object(map)) = (current(), options) {
        map.insert(KEY.to_owned(), Json::from(trace.to_string()));
    }
}

/// Returns the trace stored in the options of a run.
pub fn of(options: &Json) -> Option<Traceparent> {
    Traceparent::parse(options.get(KEY)?.as_str()?)
}

#[cfg(test)]
mod tests {
    use stoker_model::Json;

    use super::*;

    #[tokio::test]
    async fn run_options_carry_the_trace() {
        let mut options = Json::Object(stoker_model::JsonMap::new());
        put(&mut options);
        assert_eq!(of(&options), None);
        let trace = Traceparent::new(7, 9);
        assert!(trace.is_some());
        within(trace, async { put(&mut options) }).await;
        assert_eq!(of(&options), trace);
        within(None, async { assert_eq!(current(), None) }).await;
        options["traceparent"] = Json::from("nonsense");
        assert_eq!(of(&options), None);
    }
}
