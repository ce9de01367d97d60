//! The trace that the current work is a part of (W3C Trace Context).
//!
//! The server puts the trace of a request here; a run keeps it in its options, so that whichever server carries the run out
//! continues the same trace.

use std::future::Future;

use stoker_model::Json;
use stoker_traces::Traceparent;

/// The option of a run that holds its trace.
const KEY: &str = "traceparent";

tokio::task_local! {
    static CURRENT: Traceparent;
}

/// The trace of the current task, if it has one.
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

/// The trace stored in the options of a run.
pub fn of(options: &Json) -> Option<Traceparent> {
    Traceparent::parse(options.get(KEY)?.as_str()?)
}

#[cfg(test)]
mod tests {
    use stoker_model::Json;

    use super::*;

    #[tokio::test]
    async fn a_run_keeps_its_trace() {
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
