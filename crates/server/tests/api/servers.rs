//! Servers, and their background tasks.

use std::time::Duration;

use serde_json::{Value, json};

use super::support::TestServer;

async fn own_tasks(server: &TestServer) -> Vec<Value> {
    let servers = server.get("servers").await.expect(200);
    servers[0]["background_tasks"].as_array().unwrap().clone()
}

#[tokio::test]
async fn background_tasks_are_listed_with_their_passes() {
    let server = TestServer::new().await;
    assert_eq!(own_tasks(&server).await, Vec::<Value>::new(), "none is started");
    server.app.start_background();
    let takeover = loop {
        let tasks = own_tasks(&server).await;
        let takeover = tasks.into_iter().find(|task| task["name"] == "run takeover").unwrap();
        if !takeover["succeeded_at"].is_null() {
            break takeover;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(takeover["period_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{takeover}");
    assert!(takeover["started_at"].is_string());
    assert_eq!((&takeover["error"], &takeover["is_failing"]), (&Value::Null, &json!(false)));
    assert_eq!((&takeover["has_ended"], &takeover["is_overdue"]), (&json!(false), &json!(false)));
    let tasks = own_tasks(&server).await;
    let waiting = tasks.iter().find(|task| task["name"] == "task output").unwrap();
    assert!(waiting.get("period_seconds").is_none(), "it waits for events: {waiting}");
    let metrics = server.get("metrics").await.expect(200);
    for series in ["period_seconds", "start_timestamp_seconds", "success_timestamp_seconds"] {
        let series = format!("stoker_background_task_{series}{{task=\"run takeover\"}}");
        assert!(metrics.as_str().unwrap().contains(&series), "{metrics}");
    }
    server.app.stop_background();
}
