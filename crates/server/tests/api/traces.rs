//! Trace propagation from requests to task attempts.

use axum::body::Body;
use serde_json::{Value, json};

use crate::beginnings::id;
use crate::runs::{Site, task};

const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Deploys with an optional `traceparent` header and returns the trace ID of the response.
async fn deploy(site: &Site, traceparent: Option<&str>) -> String {
    let body = json!({"cluster": site.cluster, "graphs": [{"type": "default"}], "force": true});
    let mut request = site.server.request("POST", "graphs/execute/");
    if let Some(traceparent) = traceparent {
        request = request.header("traceparent", traceparent);
    }
    let reply = site.server.send(request.body(Body::from(body.to_string())).unwrap()).await;
    let trace_id = reply.header("x-trace-id").to_owned();
    let run = id(&reply.expect(202));
    assert_eq!(site.wait_for_end(run).await["status"], "ready");
    trace_id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_trace_is_propagated_to_attempts() {
    let site = Site::new(&json!([task("one", json!(["controller"]), "true", json!({}))])).await;
    let traceparent = format!("00-{ID}-00f067aa0ba902b7-01");
    assert_eq!(deploy(&site, Some(&traceparent)).await, ID);
    assert_eq!(site.attempts.traces(), [traceparent]);
    // A missing or invalid header starts a new trace.
    for header in [None, Some("nonsense"), Some("00-0-0-0")] {
        let trace_id = deploy(&site, header).await;
        assert_eq!(trace_id.len(), 32);
        let attempt_trace = site.attempts.traces().pop().unwrap();
        assert_eq!(attempt_trace.split('-').nth(1), Some(trace_id.as_str()));
    }
    let reply = site.server.get("version").await;
    assert_eq!(reply.header("x-trace-id").len(), 32);
    assert_ne!(reply.expect(200), Value::Null);
}
