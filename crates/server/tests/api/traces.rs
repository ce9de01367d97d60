//! A request is followed to the attempts it leads to.

use axum::body::Body;
use serde_json::{Value, json};

use crate::beginnings::id;
use crate::runs::{Site, task};

const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Runs what there is on behalf of somebody who sends this header: the trace of the answer.
async fn deploy(site: &Site, traceparent: Option<&str>) -> String {
    let body = json!({"cluster": site.cluster, "graphs": [{"type": "default"}], "force": true});
    let mut request = site.server.request("POST", "graphs/execute/");
    if let Some(traceparent) = traceparent {
        request = request.header("traceparent", traceparent);
    }
    let reply = site.server.send(request.body(Body::from(body.to_string())).unwrap()).await;
    let trace_id = reply.header("x-trace-id").to_owned();
    let run = id(&reply.expect(202));
    assert_eq!(site.ended(run).await["status"], "ready");
    trace_id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_trace_is_propagated_to_attempts() {
    let site = Site::new(&json!([task("one", json!(["controller"]), "true", json!({}))])).await;
    let given = format!("00-{ID}-00f067aa0ba902b7-01");
    assert_eq!(deploy(&site, Some(&given)).await, ID);
    assert_eq!(site.deeds.traces(), [given]);
    // Without one, or with nonsense, a trace begins here.
    for header in [None, Some("nonsense"), Some("00-0-0-0")] {
        let trace_id = deploy(&site, header).await;
        assert_eq!(trace_id.len(), 32);
        let told = site.deeds.traces().pop().unwrap();
        assert_eq!(told.split('-').nth(1), Some(trace_id.as_str()));
    }
    let answer = site.server.get("version").await;
    assert_eq!(answer.header("x-trace-id").len(), 32);
    assert_ne!(answer.expect(200), Value::Null);
}
