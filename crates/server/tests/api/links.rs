//! `/clusters/{id}/plugin_links/` and `/plugins/{id}/links/`

use serde_json::json;

use crate::beginnings::{cluster, plugin};
use crate::support::TestServer;

#[tokio::test]
async fn links_are_scoped_to_their_owner() {
    let server = TestServer::new().await;
    let cluster = cluster(&server).await;
    let plugin = plugin(&server, "monitoring", "1.0.0", json!({})).await.id;
    let links = [format!("clusters/{cluster}/plugin_links/"), format!("plugins/{plugin}/links/")];
    for (at, path) in links.iter().enumerate() {
        assert_eq!(server.get(path).await.expect(200), json!([]));
        let new = json!({"title": "Graphs", "url": "https://graphs.example/", "description": "of load"});
        let made = server.post(path, &new).await.expect(201);
        let id = made["id"].as_i64().unwrap();
        let expected = json!({"id": id, "title": "Graphs", "url": "https://graphs.example/",
            "description": "of load", "hidden": false});
        assert_eq!(made, expected);
        assert_eq!(server.get(path).await.expect(200), json!([expected]));
        let message = server.post(path, &new).await.refused(409);
        assert_eq!(message, "a link to https://graphs.example/ already exists");
        let own = format!("{path}{id}");
        // What was read can be sent back, and what is not given stays.
        let mut changed = server.get(&own).await.expect(200);
        changed["url"] = json!("/graphs/");
        assert_eq!(server.put(&own, &changed).await.expect(200), changed);
        let bare = server.put(&own, &json!({"description": null, "hidden": true})).await.expect(200);
        assert_eq!(
            bare,
            json!({"id": id, "title": "Graphs", "url": "/graphs/", "description": null, "hidden": true})
        );
        server.post(path, &json!({"title": "Other", "url": "/other"})).await.expect(201);
        server.patch(&own, &json!({"url": "/other"})).await.refused(409);
        server.delete(&format!("{path}{}", id + 90)).await.refused(404);
        // It is this owner's, and nobody else has it.
        let elsewhere = format!("{}{id}", links[1 - at]);
        server.get(&elsewhere).await.refused(404);
        server.patch(&elsewhere, &json!({"hidden": false})).await.refused(404);
        server.delete(&elsewhere).await.refused(404);
        for link in server.get(path).await.expect(200).as_array().unwrap() {
            server.delete(&format!("{path}{}", link["id"])).await.expect(204);
        }
        server.post(path, &json!({"title": "Last", "url": "/last", "id": 7})).await.expect(201);
        let rest = server.get(path).await.expect(200);
        server.delete(&format!("{path}{}", rest[0]["id"])).await.expect(204);
        server.get(&own).await.refused(404);
    }
}

#[tokio::test]
async fn invalid_link_is_refused() {
    let server = TestServer::new().await;
    let path = format!("clusters/{}/plugin_links", cluster(&server).await);
    for (title, url) in [
        ("", "/a"),
        ("a", ""),
        ("a", "javascript:alert(1)"),
        ("a", "ftp://example/"),
        ("a", "example"),
        ("a", " /a"),
        ("a", "/a b"),
        ("a", "/ü"),
        ("a", &format!("/{}", "a".repeat(250))),
        (&"a".repeat(256), "/a"),
    ] {
        server.post(&path, &json!({"title": title, "url": url})).await.refused(400);
    }
    for wrong in [
        json!({}),
        json!([]),
        json!({"title": "a"}),
        json!({"title": "a", "url": "/a", "hidden": null}),
        json!({"title": "a", "url": "/a", "other": 1}),
    ] {
        server.post(&path, &wrong).await.refused(400);
    }
    assert_eq!(server.get(&path).await.expect(200), json!([]));
    for (path, class) in [("clusters/9/plugin_links", "Cluster"), ("plugins/9/links", "Plugin")] {
        assert_eq!(server.get(path).await.refused(404), format!("{class} not found"));
        let new = json!({"title": "a", "url": "/a"});
        assert_eq!(server.post(path, &new).await.refused(404), format!("{class} not found"));
    }
    let stranger = server.user("sam", "elsewhere", "member").await;
    server.as_bearer(&stranger, "GET", &path, &json!(null)).await.refused(404);
}
