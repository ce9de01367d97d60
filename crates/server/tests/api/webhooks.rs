//! `/webhooks/`: what happens is told to a real receiver.

use std::time::Duration;

use serde_json::{Value, json};
use stoker_settings::{Server, Webhooks};

use crate::beginnings::{cluster, id};
use crate::receiver::{Manner, Receiver, SECRET};
use crate::runs::{Site, task};
use crate::support::TestServer;

/// As patient as a test can be.
fn settings() -> Server {
    let webhooks = Webhooks {
        answer_time: Duration::from_millis(400),
        attempts_max: 3,
        pause_min: Duration::from_millis(20),
        pause_max: Duration::from_millis(40),
    };
    Server { webhooks, ..Server::default() }
}

async fn webhook(server: &TestServer, receiver: &Receiver, extra: Value) -> i64 {
    let mut body = json!({"name": "hook", "url": receiver.url, "secret": SECRET});
    for (key, value) in extra.as_object().unwrap() {
        body[key] = value.clone();
    }
    id(&server.post("webhooks", &body).await.expect(201))
}

/// The newest delivery, when it is no longer pending.
async fn settled(server: &TestServer, webhook: i64) -> Value {
    for _ in 0..800 {
        let all = server.get(&format!("webhooks/{webhook}/deliveries")).await.expect(200);
        if let Some(newest) = all.get(0).filter(|delivery| delivery["status"] != "pending") {
            return newest.clone();
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the message was neither delivered nor given up");
}

#[tokio::test]
async fn webhook_is_created_updated_and_deleted() {
    let server = TestServer::new().await;
    let cluster = cluster(&server).await;
    assert_eq!(server.get("webhooks").await.expect(200), json!([]));
    let new = json!({"name": "chat", "url": "https://chat.example/hook",
        "topics": ["run.failed", "node.lost", "run.failed"], "cluster": cluster});
    let made = server.post("webhooks", &new).await.expect(201);
    let secret = made["secret"].as_str().unwrap();
    assert_eq!(secret.len(), 40, "one is made up");
    let path = format!("webhooks/{}", made["id"]);
    let shown = server.get(&path).await.expect(200);
    let expected = json!({"id": made["id"], "name": "chat", "url": "https://chat.example/hook",
        "topics": ["node.lost", "run.failed"], "cluster": cluster, "enabled": true,
        "created_at": shown["created_at"]});
    assert_eq!(shown, expected, "without its secret");
    let listed = server.get("webhooks").await.expect(200);
    assert_eq!(listed, json!([expected]));
    server.post("webhooks", &new).await.refused(409);
    // What was read can be sent back.
    assert_eq!(server.put(&path, &shown).await.expect(200), expected);
    let other = json!({"topics": [], "cluster": null, "enabled": false, "secret": "another secret text"});
    let changed = server.put(&path, &other).await.expect(200);
    assert_eq!(
        (&changed["topics"], &changed["cluster"], &changed["enabled"]),
        (&json!([]), &json!(null), &json!(false))
    );
    assert_eq!(changed["secret"], json!(null));
    server.post(&format!("{path}/test"), &json!({})).await.refused(409);
    let stale = server.request("PUT", &path).header("if-match", "\"1\"");
    server.send(stale.body(axum::body::Body::from("{}")).unwrap()).await.refused(412);
    let audit = server.get("audit?limit=100").await.expect(200).to_string();
    assert!(audit.contains("webhook.create") && !audit.contains(secret), "secrets are in no log");
    server.delete(&path).await.expect(204);
    for path in [path.clone(), format!("{path}/deliveries"), format!("{path}/deliveries/1")] {
        server.get(&path).await.refused(404);
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
        server.post("webhooks", &body).await.refused(400);
    }
    for wrong in [
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
        server.post("webhooks", &wrong).await.refused(400);
    }
    let two = server.post("webhooks", &json!({"url": "x", "secret": "y"})).await.expect(400);
    assert_eq!(two["errors"].as_array().unwrap().len(), 3, "all at once: {two}");
    assert_eq!(server.get("webhooks").await.expect(200), json!([]));
    server.get("webhooks/1/deliveries?status=lost").await.refused(400);
    let operator = server.user("ann", "admin", "operator").await;
    server.as_bearer(&operator, "GET", "webhooks", &Value::Null).await.refused(403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_events_are_delivered_with_signature() {
    let receiver = Receiver::start(&[]).await;
    let tasks = json!([task("one", json!(["controller"]), "true", json!({}))]);
    let site = Site::with(&tasks, settings()).await;
    webhook(&site.server, &receiver, json!({})).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    assert_eq!(site.ended(run).await["status"], "ready");
    let messages = receiver.wait(2).await;
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
    // A failure says why, and what is only tried out is no news.
    site.upload("default", &json!([task("bad", json!(["controller"]), "fail", json!({}))])).await;
    site.deploy(json!({"dry_run": true})).await;
    site.deploy(json!({"noop_run": true})).await;
    assert_eq!(site.deploy(json!({})).await["status"], "error");
    let failed = receiver.wait(4).await[3].body();
    assert_eq!(failed["topic"], "run.failed");
    assert!(failed["message"].as_str().unwrap().contains("has failed: "), "{failed}");
    site.upload("default", &json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    site.deeds.take();
    let run = id(&site.execute(json!({})).await.expect(202));
    site.until_begun().await;
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.ended(run).await;
    receiver.wait(6).await;
    assert_eq!(receiver.topics()[4..], ["run.started", "run.stopped"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deliveries_are_filtered_by_topic_and_cluster() {
    let receiver = Receiver::start(&[]).await;
    let tasks = json!([task("one", json!(["controller"]), "true", json!({}))]);
    let site = Site::with(&tasks, settings()).await;
    let elsewhere = crate::beginnings::cluster_of(&site.server, 1, "elsewhere").await;
    webhook(&site.server, &receiver, json!({"topics": ["run.succeeded"]})).await;
    webhook(&site.server, &receiver, json!({"name": "b", "cluster": elsewhere})).await;
    webhook(&site.server, &receiver, json!({"name": "c", "enabled": false})).await;
    site.deploy(json!({})).await;
    receiver.wait(1).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(receiver.topics(), ["run.succeeded"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_delivery_is_retried_and_redirects_are_not_followed() {
    let receiver = Receiver::start(&[Manner::Status(500), Manner::Redirect, Manner::Status(200)]).await;
    let server = TestServer::with(settings()).await;
    server.app.begin_runs();
    let hook = webhook(&server, &receiver, json!({})).await;
    let asked = server.post(&format!("webhooks/{hook}/test"), &json!({})).await.expect(202);
    assert_eq!((&asked["topic"], &asked["status"]), (&json!("webhook.test"), &json!("pending")));
    let delivered = settled(&server, hook).await;
    assert_eq!(
        (&delivered["status"], &delivered["attempts"], &delivered["answer"], &delivered["problem"]),
        (&json!("delivered"), &json!(3), &json!(200), &json!(null))
    );
    let messages = receiver.all();
    assert_eq!(messages.len(), 3, "a redirect is no second message");
    let numbers: Vec<String> = messages.iter().map(|message| message.header("x-stoker-delivery")).collect();
    let wanted = delivered["id"].to_string();
    assert!(numbers.iter().all(|number| *number == wanted), "{numbers:?}");
    assert!(messages.iter().all(|message| message.is_signed_with(SECRET)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timed_out_delivery_fails_and_can_be_redelivered() {
    let receiver = Receiver::start(&[Manner::Hang, Manner::Hang, Manner::Hang]).await;
    let other = Receiver::start(&[]).await;
    let server = TestServer::with(settings()).await;
    server.app.begin_runs();
    let silent = webhook(&server, &receiver, json!({})).await;
    let lively = webhook(&server, &other, json!({"name": "other"})).await;
    server.post(&format!("webhooks/{silent}/test"), &json!({})).await.expect(202);
    receiver.wait(1).await;
    // Nobody else waits for it.
    server.post(&format!("webhooks/{lively}/test"), &json!({})).await.expect(202);
    other.wait(1).await;
    let given_up = settled(&server, silent).await;
    assert_eq!((&given_up["status"], &given_up["attempts"]), (&json!("failed"), &json!(3)));
    assert_eq!((&given_up["answer"], &given_up["due_at"]), (&json!(null), &json!(null)));
    let problem = given_up["problem"].as_str().unwrap();
    assert!(problem.contains("time") && !problem.contains("key=1"), "{problem}");
    let failed = server.get(&format!("webhooks/{silent}/deliveries?status=failed")).await.expect(200);
    assert_eq!(failed.as_array().unwrap().len(), 1);
    let again = format!("webhooks/{silent}/deliveries/{}/redeliver", given_up["id"]);
    server.post(&again, &json!({})).await.expect(202);
    let delivered = settled(&server, silent).await;
    assert_eq!((&delivered["id"], &delivered["status"]), (&given_up["id"], &json!("delivered")));
    let path = format!("webhooks/{lively}/deliveries/{}/redeliver", given_up["id"]);
    server.post(&path, &json!({})).await.refused(404);
    let numbers = server.get("metrics").await.expect(200);
    let numbers = numbers.as_str().unwrap();
    for line in
        ["stoker_webhook_deliveries_total{outcome=\"given_up\"} 1", "stoker_webhook_deliveries_waiting 0"]
    {
        assert!(numbers.contains(line), "{line}: {numbers}");
    }
}
