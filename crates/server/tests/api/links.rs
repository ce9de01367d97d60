//! `/clusters/{id}/plugin_links/` and `/plugins/{id}/links/`

use serde_json::json;

use crate::beginnings::{create_cluster, create_plugin};
use crate::support::TestServer;

#[tokio::test]
async fn links_are_scoped_to_their_owner() {
    let server = TestServer::new().await;
    let cluster = create_cluster(&server).await;
    let plugin = create_plugin(&server, "monitoring", "1.0.0", json!({})).await.id;
    let links = [format!("clusters/{cluster}/plugin_links/"), format!("plugins/{plugin}/links/")];
    for (index, path) in links.iter().enumerate() {
        assert_eq!(server.get(path).await.expect(200), json!([]));
        let new = json!({"title": "Graphs", "url": "https://graphs.example/", "description": "of load"});
        let created = server.post(path, &new).await.expect(201);
        let id = created["id"].as_i64().unwrap();
        let expected = json!({"id": id, "title": "Graphs", "url": "https://graphs.example/",
            "description": "of load", "hidden": false});
        assert_eq!(created, expected);
        assert_eq!(server.get(path).await.expect(200), json!([expected]));
        let message = server.post(path, &new).await.expect_error(409);
        assert_eq!(message, "a link to https://graphs.example/ already exists");
        let link_path = format!("{path}{id}");
        // A GET response is a valid PUT body, and omitted fields are kept.
        let mut changed = server.get(&link_path).await.expect(200);
        changed["url"] = json!("/graphs/");
        assert_eq!(server.put(&link_path, &changed).await.expect(200), changed);
        let updated = server.put(&link_path, &json!({"description": null, "hidden": true})).await.expect(200);
        assert_eq!(
            updated,
            json!({"id": id, "title": "Graphs", "url": "/graphs/", "description": null, "hidden": true})
        );
        server.post(path, &json!({"title": "Other", "url": "/other"})).await.expect(201);
        server.patch(&link_path, &json!({"url": "/other"})).await.expect_error(409);
        server.delete(&format!("{path}{}", id + 90)).await.expect_error(404);
        // The link is not found below another owner.
        let elsewhere = format!("{}{id}", links[1 - index]);
        server.get(&elsewhere).await.expect_error(404);
        server.patch(&elsewhere, &json!({"hidden": false})).await.expect_error(404);
        server.delete(&elsewhere).await.expect_error(404);
        for link in server.get(path).await.expect(200).as_array().unwrap() {
            server.delete(&format!("{path}{}", link["id"])).await.expect(204);
        }
        server.post(path, &json!({"title": "Last", "url": "/last", "id": 7})).await.expect(201);
        let remaining = server.get(path).await.expect(200);
        server.delete(&format!("{path}{}", remaining[0]["id"])).await.expect(204);
        server.get(&link_path).await.expect_error(404);
    }
}

#[tokio::test]
async fn invalid_link_is_refused() {
    let server = TestServer::new().await;
    let path = format!("clusters/{}/plugin_links", create_cluster(&server).await);
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
        server.post(&path, &json!({"title": title, "url": url})).await.expect_error(400);
    }
    for body in [
        json!({}),
        json!([]),
        json!({"title": "a"}),
        json!({"title": "a", "url": "/a", "hidden": null}),
        json!({"title": "a", "url": "/a", "other": 1}),
    ] {
        server.post(&path, &body).await.expect_error(400);
    }
    assert_eq!(server.get(&path).await.expect(200), json!([]));
    for (path, class) in [("clusters/9/plugin_links", "Cluster"), ("plugins/9/links", "Plugin")] {
        assert_eq!(server.get(path).await.expect_error(404), format!("{class} not found"));
        let new = json!({"title": "a", "url": "/a"});
        assert_eq!(server.post(path, &new).await.expect_error(404), format!("{class} not found"));
    }
    let stranger = server.create_user("sam", "elsewhere", "member").await;
    server.send_as(&stranger, "GET", &path, &json!(null)).await.expect_error(404);
}
