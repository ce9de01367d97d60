//! `/notifications/`

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
    assert_eq!(topics, ["run.succeeded", "run.started"], "the newest notification is first");
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
    for invalid in [json!({}), json!({"status": "seen"}), json!({"status": "read", "ids": [0.5]}), json!([])]
    {
        server.put("notifications", &invalid).await.expect_error(400);
    }
    for invalid in ["status=new", "topic=weather", "cluster=x"] {
        server.get(&format!("notifications?{invalid}")).await.expect_error(400);
    }
    // Notifications of clusters that the caller cannot read are not listed.
    let stranger = server.create_user("sam", "elsewhere", "member").await;
    let visible = server.send_as(&stranger, "GET", "notifications", &Value::Null).await.expect(200);
    assert_eq!(visible, json!([]));
    let viewer = server.create_user("vic", "elsewhere", "viewer").await;
    server.send_as(&viewer, "PUT", "notifications", &json!({"status": "unread"})).await.expect_error(403);
    let visible = server.send_as(&viewer, "GET", "notifications/stats", &Value::Null).await.expect(200);
    assert_eq!(visible["total"], 2);
}
