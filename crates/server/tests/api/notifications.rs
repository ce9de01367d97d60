//! `/notifications/`: what happened, for people.

use serde_json::{Value, json};

use crate::runs::{Site, task};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notifications_are_listed_and_marked_as_read() {
    let site = Site::new(&json!([task("one", json!(["controller"]), "true", json!({}))])).await;
    let server = &site.server;
    assert_eq!(server.get("notifications").await.expect(200), json!([]));
    site.deploy(json!({})).await;
    let listed = server.get("notifications").await.expect(200);
    let topics: Vec<&Value> = listed.as_array().unwrap().iter().map(|entry| &entry["topic"]).collect();
    assert_eq!(topics, ["run.succeeded", "run.started"], "the newest first");
    assert_eq!((&listed[0]["cluster"], &listed[0]["status"]), (&json!(site.cluster), &json!("unread")));
    assert_eq!(
        server.get("notifications/stats").await.expect(200),
        json!({"total": 2, "read": 0, "unread": 2})
    );
    let one = json!({"status": "read", "ids": [listed[0]["id"], 99]});
    assert_eq!(server.put("notifications", &one).await.expect(200), json!({"changed": 1}));
    let unread = server.get("notifications?status=unread&topic=run.started,node.lost").await.expect(200);
    assert_eq!((unread.as_array().unwrap().len(), &unread[0]["id"]), (1, &listed[1]["id"]));
    assert_eq!(
        server.put("notifications", &json!({"status": "read"})).await.expect(200),
        json!({"changed": 1})
    );
    assert_eq!(
        server.get("notifications/stats").await.expect(200),
        json!({"total": 2, "read": 2, "unread": 0})
    );
    for wrong in [json!({}), json!({"status": "seen"}), json!({"status": "read", "ids": [0.5]}), json!([])] {
        server.put("notifications", &wrong).await.refused(400);
    }
    for wrong in ["status=new", "topic=weather", "cluster=x"] {
        server.get(&format!("notifications?{wrong}")).await.refused(400);
    }
    // Of clusters that a caller does not see, nothing is told.
    let stranger = server.user("sam", "elsewhere", "member").await;
    let shown = server.as_bearer(&stranger, "GET", "notifications", &Value::Null).await.expect(200);
    assert_eq!(shown, json!([]));
    let viewer = server.user("vic", "elsewhere", "viewer").await;
    server.as_bearer(&viewer, "PUT", "notifications", &json!({"status": "unread"})).await.refused(403);
    let shown = server.as_bearer(&viewer, "GET", "notifications/stats", &Value::Null).await.expect(200);
    assert_eq!(shown["total"], 2);
}
