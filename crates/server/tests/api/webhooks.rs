//! `/webhooks/`: deliveries to a real HTTP receiver.

use std::time::Duration;

use serde_json::{Value, json};
use stoker_settings::{Server, Webhooks};

use crate::beginnings::{create_cluster, id};
use crate::receiver::{Receiver, ResponseMode, SECRET};
use crate::runs::{Site, task};
use crate::support::TestServer;

/// Returns settings with short timeouts and backoff, so that retries finish within the test.
fn fast_webhook_settings() -> Server {
    let webhooks = Webhooks {
        response_timeout: Duration::from_millis(400),
        attempts_max: 3,
        backoff_min: Duration::from_millis(20),
        backoff_max: Duration::from_millis(40),
    };
    Server { webhooks, ..Server::default() }
}

async fn create_webhook(server: &TestServer, receiver: &Receiver, extra: Value) -> i64 {
    let mut body = json!({"name": "hook", "url": receiver.url, "secret": SECRET});
    for (key, value) in extra.as_object().unwrap() {
        body[key] = value.clone();
    }
    id(&server.post("webhooks", &body).await.expect(201))
}

/// Waits up to 20 seconds until the newest delivery is no longer pending and returns it.
pub(crate) async fn wait_for_delivery(server: &TestServer, webhook: i64) -> Value {
    for _ in 0..800 {
        let deliveries = server.get(&format!("webhooks/{webhook}/deliveries")).await.expect(200);
        if let Some(newest) = deliveries.get(0).filter(|delivery| delivery["status"] != "pending") {
            return newest.clone();
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the delivery is still pending after 20 seconds");
}

#[tokio::test]
async fn webhook_is_created_updated_and_deleted() {
    let server = TestServer::new().await;
    let cluster = create_cluster(&server).await;
    assert_eq!(server.get("webhooks").await.expect(200), json!([]));
    let new = json!({"name": "chat", "url": "https://chat.example/hook",
        "topics": ["run.failed", "node.lost", "run.failed"], "cluster": cluster});
    let created = server.post("webhooks", &new).await.expect(201);
    let secret = created["secret"].as_str().unwrap();
    assert_eq!(secret.len(), 40, "a secret is generated");
    let path = format!("webhooks/{}", created["id"]);
    let stored = server.get(&path).await.expect(200);
    let expected = json!({"id": created["id"], "name": "chat", "url": "https://chat.example/hook",
        "topics": ["node.lost", "run.failed"], "cluster": cluster, "enabled": true,
        "created_at": stored["created_at"]});
    assert_eq!(stored, expected, "the secret is not returned");
    let listed = server.get("webhooks").await.expect(200);
    assert_eq!(listed, json!([expected]));
    server.post("webhooks", &new).await.expect_error(409);
    // A GET response is a valid PUT body.
    assert_eq!(server.put(&path, &stored).await.expect(200), expected);
    let other = json!({"topics": [], "cluster": null, "enabled": false, "secret": "another secret text"});
    let changed = server.put(&path, &other).await.expect(200);
    assert_eq!(
        (&changed["topics"], &changed["cluster"], &changed["enabled"]),
        (&json!([]), &json!(null), &json!(false))
    );
    assert_eq!(changed["secret"], json!(null));
    server.post(&format!("{path}/test"), &json!({})).await.expect_error(409);
    let stale = server.request("PUT", &path).header("if-match", "\"1\"");
    server.send(stale.body(axum::body::Body::from("{}")).unwrap()).await.expect_error(412);
    let audit = server.get("audit?limit=100").await.expect(200).to_string();
    assert!(audit.contains("webhook.create") && !audit.contains(secret), "the audit log contains no secrets");
    server.delete(&path).await.expect(204);
    for path in [path.clone(), format!("{path}/deliveries"), format!("{path}/deliveries/1")] {
        server.get(&path).await.expect_error(404);
    }
}

#[tokio::test]
async fn invalid_webhook_is_refused() {
    let server = TestServer::new().await;
    for url in [
        "",
        "ftp://a/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "/hook",
        "http://",
        "https://user:pass@a/",
        "http://a b/",
        "http://ä/",
    ] {
        let body = json!({"name": "a", "url": url});
        server.post("webhooks", &body).await.expect_error(400);
    }
    for body in [
        json!({}),
        json!([]),
        json!({"name": "a"}),
        json!({"url": "http://a/"}),
        json!({"name": "", "url": "http://a/"}),
        json!({"name": "a", "url": "http://a/", "secret": "short"}),
        json!({"name": "a", "url": "http://a/", "topics": ["run.exploded"]}),
        json!({"name": "a", "url": "http://a/", "topics": "run.failed"}),
        json!({"name": "a", "url": "http://a/", "cluster": 99}),
        json!({"name": "a", "url": "http://a/", "cluster": "x"}),
        json!({"name": "a", "url": "http://a/", "enabled": null}),
        json!({"name": "a", "url": "http://a/", "other": 1}),
    ] {
        server.post("webhooks", &body).await.expect_error(400);
    }
    let error = server.post("webhooks", &json!({"url": "x", "secret": "y"})).await.expect(400);
    assert_eq!(error["errors"].as_array().unwrap().len(), 3, "all errors are reported together: {error}");
    assert_eq!(server.get("webhooks").await.expect(200), json!([]));
    server.get("webhooks/1/deliveries?status=lost").await.expect_error(400);
    let operator = server.create_user("ann", "admin", "operator").await;
    server.send_as(&operator, "GET", "webhooks", &Value::Null).await.expect_error(403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_events_are_delivered_with_signature() {
    let receiver = Receiver::start(&[]).await;
    let tasks = json!([task("one", json!(["controller"]), "true", json!({}))]);
    let site = Site::with_settings(&tasks, fast_webhook_settings()).await;
    create_webhook(&site.server, &receiver, json!({})).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    assert_eq!(site.wait_for_end(run).await["status"], "ready");
    let messages = receiver.wait_for(2).await;
    assert_eq!(receiver.topics(), ["run.started", "run.succeeded"]);
    for message in &messages {
        assert!(message.is_signed_with(SECRET), "{message:?}");
        assert!(!message.is_signed_with("another secret text"));
        assert_eq!(message.header("content-type"), "application/json");
    }
    assert_ne!(messages[0].header("x-stoker-delivery"), messages[1].header("x-stoker-delivery"));
    let body = messages[1].body();
    assert_eq!((&body["topic"], &body["run"]["id"]), (&json!("run.succeeded"), &json!(run)));
    assert_eq!((&body["run"]["status"], &body["cluster"]["id"]), (&json!("ready"), &json!(site.cluster)));
    // A failure includes its reason; dry runs and no-op runs send nothing.
    site.upload("default", &json!([task("bad", json!(["controller"]), "fail", json!({}))])).await;
    site.deploy(json!({"dry_run": true})).await;
    site.deploy(json!({"noop_run": true})).await;
    assert_eq!(site.deploy(json!({})).await["status"], "error");
    let failed = receiver.wait_for(4).await[3].body();
    assert_eq!(failed["topic"], "run.failed");
    assert!(failed["message"].as_str().unwrap().contains("has failed: "), "{failed}");
    site.upload("default", &json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    site.attempts.take();
    let run = id(&site.execute(json!({})).await.expect(202));
    site.wait_until_started().await;
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.wait_for_end(run).await;
    receiver.wait_for(6).await;
    assert_eq!(receiver.topics()[4..], ["run.started", "run.stopped"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deliveries_are_filtered_by_topic_and_cluster() {
    let receiver = Receiver::start(&[]).await;
    let tasks = json!([task("one", json!(["controller"]), "true", json!({}))]);
    let site = Site::with_settings(&tasks, fast_webhook_settings()).await;
    let elsewhere = crate::beginnings::create_cluster_of(&site.server, 1, "elsewhere").await;
    create_webhook(&site.server, &receiver, json!({"topics": ["run.succeeded"]})).await;
    create_webhook(&site.server, &receiver, json!({"name": "b", "cluster": elsewhere})).await;
    create_webhook(&site.server, &receiver, json!({"name": "c", "enabled": false})).await;
    site.deploy(json!({})).await;
    receiver.wait_for(1).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(receiver.topics(), ["run.succeeded"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_delivery_is_retried_and_redirects_are_not_followed() {
    let receiver =
        Receiver::start(&[ResponseMode::Status(500), ResponseMode::Redirect, ResponseMode::Status(200)])
            .await;
    let server = TestServer::with_settings(fast_webhook_settings()).await;
    server.app.start_background();
    let hook = create_webhook(&server, &receiver, json!({})).await;
    let queued = server.post(&format!("webhooks/{hook}/test"), &json!({})).await.expect(202);
    assert_eq!((&queued["topic"], &queued["status"]), (&json!("webhook.test"), &json!("pending")));
    let delivered = wait_for_delivery(&server, hook).await;
    assert_eq!(
        (&delivered["status"], &delivered["attempts"], &delivered["answer"], &delivered["problem"]),
        (&json!("delivered"), &json!(3), &json!(200), &json!(null))
    );
    let messages = receiver.messages();
    assert_eq!(messages.len(), 3, "redirects are not followed");
    let delivery_ids: Vec<String> =
        messages.iter().map(|message| message.header("x-stoker-delivery")).collect();
    let delivery_id = delivered["id"].to_string();
    assert!(delivery_ids.iter().all(|number| *number == delivery_id), "{delivery_ids:?}");
    assert!(messages.iter().all(|message| message.is_signed_with(SECRET)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timed_out_delivery_fails_and_can_be_redelivered() {
    let receiver = Receiver::start(&[ResponseMode::Hang, ResponseMode::Hang, ResponseMode::Hang]).await;
    let other = Receiver::start(&[]).await;
    let server = TestServer::with_settings(fast_webhook_settings()).await;
    server.app.start_background();
    let silent = create_webhook(&server, &receiver, json!({})).await;
    let lively = create_webhook(&server, &other, json!({"name": "other"})).await;
    server.post(&format!("webhooks/{silent}/test"), &json!({})).await.expect(202);
    receiver.wait_for(1).await;
    // A hanging receiver does not delay deliveries to others.
    server.post(&format!("webhooks/{lively}/test"), &json!({})).await.expect(202);
    other.wait_for(1).await;
    let failed_delivery = wait_for_delivery(&server, silent).await;
    assert_eq!((&failed_delivery["status"], &failed_delivery["attempts"]), (&json!("failed"), &json!(3)));
    assert_eq!((&failed_delivery["answer"], &failed_delivery["due_at"]), (&json!(null), &json!(null)));
    let problem = failed_delivery["problem"].as_str().unwrap();
    assert!(problem.contains("time") && !problem.contains("key=1"), "{problem}");
    let failed = server.get(&format!("webhooks/{silent}/deliveries?status=failed")).await.expect(200);
    assert_eq!(failed.as_array().unwrap().len(), 1);
    let redeliver_path = format!("webhooks/{silent}/deliveries/{}/redeliver", failed_delivery["id"]);
    server.post(&redeliver_path, &json!({})).await.expect(202);
    let delivered = wait_for_delivery(&server, silent).await;
    assert_eq!((&delivered["id"], &delivered["status"]), (&failed_delivery["id"], &json!("delivered")));
    let path = format!("webhooks/{lively}/deliveries/{}/redeliver", failed_delivery["id"]);
    server.post(&path, &json!({})).await.expect_error(404);
    let metrics = server.get("metrics").await.expect(200);
    let metrics = metrics.as_str().unwrap();
    for line in
        ["stoker_webhook_deliveries_total{outcome=\"given_up\"} 1", "stoker_webhook_deliveries_waiting 0"]
    {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}
