use serde_json::{Value, json};
use stoker_model::{NodeId, RunName, RunStatus};

use crate::beginnings::{create_cluster, create_cluster_of, create_node, create_run, id, send_with_header};
use crate::support::TestServer;

const MAC: &str = "52:54:00:12:34:ab";

fn ids(list: &Value) -> Vec<i64> {
    list.as_array().expect("a list").iter().map(id).collect()
}

#[tokio::test]
async fn discovered_node_is_created() {
    let server = TestServer::new().await;
    let body = json!({
        "mac": MAC.to_uppercase(), "status": "discover", "ip": "10.20.0.7", "manufacturer": "QEMU",
        "platform_name": null, "os_platform": "ubuntu", "meta": {"interfaces": [{"name": "eth0"}], "cpu": {"total": 2}},
        "is_agent": true, "agent_checksum": "x", "uptime": 5,
    });
    let created = server.post("nodes/", &body).await.expect(201);
    for (field, expected) in [
        ("id", json!(1)),
        ("mac", json!(MAC)),
        ("name", json!("Untitled (34:ab)")),
        ("hostname", json!("node-1")),
        ("fqdn", json!("node-1")),
        ("status", json!("discover")),
        ("online", json!(true)),
        ("ip", json!("10.20.0.7")),
        ("meta", body["meta"].clone()),
        ("manufacturer", json!("QEMU")),
        ("platform_name", json!(null)),
        ("cluster", json!(null)),
        ("roles", json!([])),
        ("pending_roles", json!([])),
        ("pending_addition", json!(false)),
        ("pending_deletion", json!(false)),
        ("labels", json!({})),
        ("error_type", json!(null)),
        ("progress", json!(0)),
        ("group_id", json!(null)),
        ("kernel_params", json!(null)),
        ("network_data", json!([])),
    ] {
        assert_eq!(created[field], expected, "{field}");
    }
    let mut stored_node = server.get("nodes/1/").await.expect(200);
    assert_eq!(stored_node.as_object_mut().unwrap().shift_remove("facts"), Some(json!({"uptime": 5})));
    assert_eq!(stored_node, created);
    assert_eq!(server.get("nodes").await.expect(200), json!([created]));
    let stored = server.app.store.read().await.unwrap().node_get(NodeId(1)).await.unwrap().unwrap();
    assert_eq!(Value::Object(stored.facts), json!({"uptime": 5}));
    let message = server.post("nodes", &json!({"mac": MAC, "status": "discover"})).await.expect_error(409);
    assert_eq!(message, format!("Node with mac {MAC} already exists - doing nothing"));
}

#[tokio::test]
async fn invalid_discovery_is_refused() {
    let server = TestServer::new().await;
    for (body, status, message) in [
        (json!({"status": "discover"}), 400, "No mac address specified"),
        (json!({"mac": null, "status": "discover"}), 400, "No mac address specified"),
        (json!({"mac": "zz", "status": "discover"}), 400, "must be a MAC address"),
        (json!({"mac": 5, "status": "discover"}), 400, "must be text"),
        (json!({"mac": MAC, "status": "ready"}), 403, "Only bootstrap nodes are allowed to be registered."),
        (json!({"mac": MAC, "status": "x"}), 403, "Only bootstrap nodes are allowed to be registered."),
        (json!({"mac": MAC, "meta": {}}), 400, "`meta.interfaces` must be a list"),
        (json!({"mac": MAC, "meta": {"interfaces": {}}}), 400, "`meta.interfaces` must be a list"),
        (json!({"mac": MAC, "meta": {"interfaces": [1]}}), 400, "`meta.interfaces` must be a list"),
        (json!({"mac": MAC, "meta": []}), 400, "must be a map"),
        (json!({"mac": MAC, "ip": "10.20"}), 400, "must be an IP address"),
        (json!({"mac": MAC, "hostname": "a_b"}), 400, "invalid hostname"),
        (json!({"mac": MAC, "cluster_id": 1}), 400, "cannot be set when a node is created"),
        (json!({"mac": MAC, "roles": ["x"]}), 400, "cannot be set when a node is created"),
        (json!({"mac": MAC, "labels": {"a": 1}}), 400, "must be text"),
        (json!({"mac": MAC, "name": "a\u{0}"}), 400, "NUL"),
        (json!([]), 400, "must be a map"),
    ] {
        let error = server.post("nodes", &body).await.expect_error(status);
        assert!(error.contains(message), "{body}: {error}");
    }
    assert_eq!(server.get("nodes").await.expect(200), json!([]));
}

#[tokio::test]
async fn node_update_is_partial() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    create_node(&server, 1).await;
    let body = json!({
        "name": "db", "hostname": "db-1.example.org", "labels": {"rack": "a1", "spare": null}, "online": false,
        "cluster_id": cluster_id, "pending_roles": ["compute"], "error_type": "deploy", "error_msg": "no", "progress": 50,
        "kernel_params": "quiet", "group_id": 2, "meta": {"numa": 1}, "ip": null,
    });
    let changed = server.put("nodes/1/", &body).await.expect(200);
    for field in [
        "name",
        "hostname",
        "labels",
        "online",
        "pending_roles",
        "error_type",
        "progress",
        "meta",
        "group_id",
    ] {
        assert_eq!(changed[field], body[field], "{field}");
    }
    assert_eq!((&changed["cluster"], &changed["pending_addition"]), (&json!(cluster_id), &json!(true)));
    let labels =
        server.patch("nodes/1", &json!({"labels": {"x": "y"}, "error_type": null})).await.expect(200);
    assert_eq!((&labels["labels"], &labels["error_type"]), (&json!({"x": "y"}), &json!(null)));
    // A GET response is a valid PUT body.
    assert_eq!(server.put("nodes/1", &labels).await.expect(200), labels);
    let free = server.put("nodes/1", &json!({"cluster_id": null})).await.expect(200);
    assert_eq!((&free["cluster"], &free["pending_roles"]), (&json!(null), &json!([])));
    server.put("nodes/1", &json!({})).await.expect(200);
}

#[tokio::test]
async fn invalid_node_update_is_refused() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    let other = create_cluster_of(&server, 1, "other").await;
    for number in 1..=2 {
        create_node(&server, number).await;
        server.put(&format!("nodes/{number}"), &json!({"cluster_id": cluster_id})).await.expect(200);
    }
    create_node(&server, 3).await;
    let long = "x".repeat(101);
    for (path, body, status, message) in [
        ("nodes/1", json!({"hostname": "node-2"}), 409, "hostname `node-2` is already in use in cluster 1"),
        ("nodes/1", json!({"hostname": "-x"}), 400, "invalid hostname"),
        (
            "nodes/1",
            json!({"mac": "52:54:00:00:00:02"}),
            409,
            "MAC address 52:54:00:00:00:02 is already in use by another node",
        ),
        ("nodes/1", json!({"labels": {"a": ""}}), 400, "must have 1 to 100 characters"),
        ("nodes/1", json!({"labels": {"": "a"}}), 400, "must have 1 to 100 characters"),
        ("nodes/1", json!({"labels": {"a": long}}), 400, "must have 1 to 100 characters"),
        ("nodes/1", json!({"labels": null}), 400, "must be a map"),
        ("nodes/1", json!({"status": "raedy"}), 400, "did you mean `ready`?"),
        ("nodes/1", json!({"roles": ["x"]}), 400, "x are not valid roles for nodes in cluster 1"),
        ("nodes/1", json!({"pending_roles": ["controller", "compute"]}), 400, "in conflict with role"),
        (
            "nodes/1",
            json!({"cluster_id": other}),
            400,
            "node 1 belongs to cluster 1; remove it from that cluster first",
        ),
        ("nodes/1", json!({"cluster_id": 1, "cluster": 2}), 400, "`cluster_id` and `cluster` differ"),
        ("nodes/3", json!({"cluster_id": 99}), 400, "cluster 99 does not exist"),
        ("nodes/3", json!({"roles": ["compute"]}), 400, "node 3 has no cluster and cannot have roles"),
        ("nodes/1", json!({"progress": 101}), 400, "must be 0 to 100"),
        ("nodes/1", json!({"id": 2}), 400, "cannot change the ID of node 1"),
        ("nodes/1", json!({"colour": 2}), 400, "unknown key"),
        ("nodes/9", json!({}), 404, "Node not found"),
        ("nodes/x", json!({}), 404, "Node not found"),
    ] {
        let error = server.put(path, &body).await.expect_error(status);
        assert!(error.contains(message), "{body}: {error}");
    }
    server.put("nodes/1", &json!({"status": "provisioned"})).await.expect(200);
    let message = server.put("nodes/1", &json!({"hostname": "new"})).await.expect_error(403);
    assert_eq!(message, "Node hostname may be changed only before provisioning.");
    server.put("nodes/1", &json!({"hostname": "node-1"})).await.expect(200);
    let tag = server.get("nodes/1").await.header("etag").to_owned();
    send_with_header(&server, ("PUT", "nodes/1"), ("if-match", &tag), r#"{"name": "x"}"#).await.expect(200);
    send_with_header(&server, ("PUT", "nodes/1"), ("if-match", &tag), r#"{"name": "y"}"#)
        .await
        .expect_error(412);
    send_with_header(&server, ("DELETE", "nodes/1"), ("if-match", &tag), "").await.expect_error(412);
}

#[tokio::test]
async fn bulk_node_update_is_atomic() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    for number in 1..=2 {
        create_node(&server, number).await;
    }
    let body =
        json!([{"id": 1, "name": "a", "cluster": cluster_id}, {"mac": "52-54-00-00-00-02", "name": "b"}]);
    let changed = server.put("nodes/", &body).await.expect(200);
    assert_eq!(changed[0]["cluster"], cluster_id);
    assert_eq!((&changed[0]["name"], &changed[1]["name"]), (&json!("a"), &json!("b")));
    for (body, message) in [
        (json!([{"id": 1, "name": "x"}, {"id": 9}]), "entry 1: Invalid ID or MAC specified"),
        (json!([{"id": 1, "name": "x"}, {"name": "y"}]), "entry 1: MAC or ID is not specified"),
        (json!([{"id": 1, "name": "x"}, {"id": 1, "name": "y"}]), "node 1 is listed more than once"),
        (json!([{"id": 1, "name": "x"}, {"id": 2, "status": "?"}]), "[1].status"),
        (json!({}), "must be a list"),
    ] {
        let error = server.put("nodes", &body).await.expect_error(400);
        assert!(error.contains(message), "{body}: {error}");
    }
    assert_eq!(server.get("nodes/1").await.expect(200)["name"], "a");
    assert_eq!(server.put("nodes", &json!([])).await.expect(200), json!([]));
}

#[tokio::test]
async fn node_list_and_stats_are_filtered() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    for number in 1..=4 {
        create_node(&server, number).await;
    }
    let body = json!([{"id": 1, "roles": ["controller"]}, {"id": 2, "roles": ["compute"]}]);
    server.post(&format!("clusters/{cluster_id}/assignment"), &body).await.expect(200);
    let changes = json!([{"id": 2, "status": "ready", "labels": {"rack": "7"}},
                         {"id": 3, "online": false, "labels": {"rack": "8", "row": null}}]);
    server.put("nodes", &changes).await.expect(200);
    for (query, expected) in [
        ("", &[1, 2, 3, 4][..]),
        ("cluster_id=1", &[1, 2]),
        ("cluster_id=", &[3, 4]),
        ("cluster_id=77", &[]),
        ("ids=4,2,99", &[2, 4]),
        ("ids=2,3&cluster_id=1", &[2]),
        ("ids=", &[1, 2, 3, 4]),
        ("status=ready", &[2]),
        ("status=ready,discover", &[1, 2, 3, 4]),
        ("online=0", &[3]),
        ("online=true&cluster_id=", &[4]),
        ("roles=compute,x", &[2]),
        ("status=discover&order_by=-id&limit=1&offset=1", &[3]),
        ("labels=rack%3D7", &[2]),
        ("labels=rack", &[2, 3]),
        ("labels=rack,row", &[3]),
        ("labels=rack%3D9", &[]),
        ("search=COMPUTE", &[2]),
        ("search=rack%3D7%20compute", &[2]),
        ("search=rack%20nowhere", &[]),
        ("search=%20&limit=1", &[1]),
    ] {
        assert_eq!(ids(&server.get(&format!("nodes/?{query}")).await.expect(200)), expected, "{query}");
    }
    let reply = server.get("nodes?status=discover&limit=1&offset=1").await;
    assert_eq!(reply.header("content-range"), "objects 1-1/3");
    for query in ["cluster_id=x", "ids=x", "status=y", "online=maybe", "limit=-1", "order_by=colour"] {
        server.get(&format!("nodes?{query}")).await.expect_error(400);
    }
    server.get("nodes?status=ready&offset=1").await.expect_error(416);
    let stats = server.get("nodes/allocation/stats/").await.expect(200);
    assert_eq!(stats, json!({"total": 4, "unallocated": 2}));
    let details = async |query: &str| {
        let stats = server.get(&format!("nodes/allocation/stats/?details=1&{query}")).await.expect(200);
        stats["details"].clone()
    };
    let cluster_stats = details("cluster_id=1").await;
    assert_eq!(
        (&cluster_stats["total"], &cluster_stats["online"], &cluster_stats["to_be_added"]),
        (&json!(2), &json!(2), &json!(2))
    );
    assert_eq!(cluster_stats["roles"], json!({"compute": 1, "controller": 1}));
    assert_eq!(cluster_stats["labels"], json!({"rack=7": 1}));
    let unassigned_stats = details("cluster_id=").await;
    assert_eq!((&unassigned_stats["total"], &unassigned_stats["online"]), (&json!(2), &json!(1)));
    assert_eq!(unassigned_stats["labels"], json!({"rack=8": 1, "row": 1}));
    assert_eq!(details("").await["statuses"], json!({"discover": 3, "ready": 1}));
    server.get("nodes/allocation/stats?details=maybe").await.expect_error(400);
}

#[tokio::test]
async fn node_deletion_is_atomic_and_refused_during_a_run() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    for number in 1..=4 {
        create_node(&server, number).await;
    }
    let body = json!([{"id": 1, "roles": []}]);
    server.post(&format!("clusters/{cluster_id}/assignment"), &body).await.expect(200);
    assert_eq!(server.delete("nodes?ids=2,99").await.expect_error(404), "NodeCollection not found");
    server.delete("nodes").await.expect_error(400);
    server.delete("nodes?ids=").await.expect_error(400);
    server.delete("nodes?ids=x").await.expect_error(400);
    let deletion = server.delete("nodes/?ids=2,3,2").await.expect(200);
    assert_eq!((&deletion["name"], &deletion["status"]), (&json!("node_deletion"), &json!("ready")));
    assert_eq!((&deletion["result"], &deletion["cluster"]), (&json!({"nodes": [2, 3]}), &json!(null)));
    assert_eq!(ids(&server.get("nodes").await.expect(200)), [1, 4]);
    let running = create_run(&server, Some(cluster_id), RunName::Deploy, RunStatus::Running).await;
    assert!(
        server
            .delete("nodes/1")
            .await
            .expect_error(400)
            .contains("deleting nodes is not possible while run 2")
    );
    server.delete("nodes?ids=1,4").await.expect_error(400);
    assert_eq!(ids(&server.get("nodes").await.expect(200)), [1, 4]);
    server.delete(&format!("transactions/{}?force=1", running.id)).await.expect(204);
    assert_eq!(server.delete("nodes/1/").await.expect(200)["cluster"], cluster_id);
    server.delete("nodes/1").await.expect_error(404);
}

#[tokio::test]
async fn heartbeat_without_changes_keeps_the_etag() {
    let server = TestServer::new().await;
    create_node(&server, 1).await;
    let body = json!({
        "mac": "52:54:00:00:00:01", "agent_checksum": "abc", "ip": "10.0.0.1", "status": "error", "is_agent": true,
        "meta": {"interfaces": []}, "uptime": 5,
    });
    assert_eq!(server.put("nodes/agent/", &body).await.expect(200), json!({"id": 1}));
    let node_view = server.get("nodes/1").await;
    let tag = node_view.header("etag").to_owned();
    let node_view = node_view.expect(200);
    assert_eq!((&node_view["ip"], &node_view["meta"]), (&json!("10.0.0.1"), &body["meta"]));
    assert_eq!(node_view["status"], "discover");
    let n_entries = server.get("audit").await.expect(200).as_array().unwrap().len();
    assert_eq!(server.put("nodes/agent", &body).await.expect(200), json!({"id": 1, "cached": true}));
    // The same holds without a checksum.
    assert_eq!(
        server.put("nodes/agent", &json!({"id": 1, "ip": "10.0.0.1"})).await.expect(200),
        json!({"id": 1})
    );
    let reply = server.get("nodes/1").await;
    assert_eq!(reply.header("etag"), tag);
    assert!(reply.body["last_seen_at"].as_str() > node_view["last_seen_at"].as_str());
    assert_eq!(server.get("audit").await.expect(200).as_array().unwrap().len(), n_entries);
    // A heartbeat sets an offline node online.
    server.put("nodes/1", &json!({"online": false})).await.expect(200);
    assert_eq!(server.put("nodes/agent", &body).await.expect(200), json!({"id": 1, "cached": true}));
    assert_eq!(server.get("nodes/1").await.expect(200)["online"], true);
    for (body, status, message) in [
        (json!({"id": 9}), 404, "Node not found"),
        (json!({"mac": MAC}), 404, "Node not found"),
        (json!({"uptime": 1}), 400, "specify `id` or `mac`"),
        (json!({"mac": "x"}), 400, "must be a MAC address"),
        (json!({"id": 1, "meta": {}}), 400, "`meta.interfaces` must be a list"),
        (json!([]), 400, "must be a map"),
    ] {
        let error = server.put("nodes/agent", &body).await.expect_error(status);
        assert!(error.contains(message), "{body}: {error}");
    }
    server.get("nodes/agent").await.expect_error(405);
}

#[tokio::test]
async fn node_settings_update_is_merged() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    create_node(&server, 1).await;
    let path = "nodes/1/attributes/";
    server.get(path).await.expect_error(400);
    assert_eq!(
        server.put(path, &json!({})).await.expect_error(400),
        "Node '1' doesn't belong to any cluster"
    );
    server.put("nodes/1", &json!({"cluster_id": cluster_id})).await.expect(200);
    assert_eq!(server.get(path).await.expect(200), json!({}));
    server.put(path, &json!({"cpu": {"pinned": 1, "free": 2}})).await.expect(200);
    let merged = server.put(path, &json!({"cpu": {"free": 3}, "x": []})).await.expect(200);
    assert_eq!(merged, json!({"cpu": {"pinned": 1, "free": 3}, "x": []}));
    assert_eq!(server.get(path).await.expect(200), merged);
    server.put(path, &json!([])).await.expect_error(400);
    server.get("nodes/9/attributes").await.expect_error(404);
    send_with_header(&server, ("PUT", path), ("if-match", "\"1\""), "{}").await.expect_error(412);
}

#[tokio::test]
async fn invalid_transport_settings_are_refused() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    create_node(&server, 1).await;
    server.put("nodes/1", &json!({"cluster_id": cluster_id})).await.expect(200);
    let path = "nodes/1/attributes";
    let invalid = json!({"transport": "shh", "ssh": {"port": "22", "hots": "gate"}, "x": 1});
    let error = server.put(path, &invalid).await.expect_error(400);
    for mistake in [
        "`transport` must be `ssh`",
        "`ssh.port` must be a number",
        "unknown key `ssh.hots`; supported keys: host",
    ] {
        assert!(error.contains(mistake), "{error}");
    }
    assert_eq!(server.get(path).await.expect(200), json!({}), "nothing is stored");
    let valid = json!({"transport": "ssh", "ssh": {"port": 22, "hooks": {"reboot": "/opt/reboot"}}});
    assert_eq!(server.put(path, &valid).await.expect(200), valid);
    // The merged result is validated; null removes a key.
    server.put(path, &json!({"ssh": {"user": "-x"}})).await.expect_error(400);
    server.put(path, &json!({"transport": null, "ssh": null})).await.expect(200);
}

#[tokio::test]
async fn member_sees_only_nodes_of_its_clusters() {
    let server = TestServer::new().await;
    let member = server.create_user("ada", "blue", "member").await;
    let other_cluster = create_cluster(&server).await;
    let own_cluster = json!({"name": "own", "release_id": 1, "tenant": "blue"});
    let own_cluster = id(&server.post("clusters", &own_cluster).await.expect(201));
    for (number, cluster_id) in [(1, Some(own_cluster)), (2, Some(other_cluster)), (3, None)] {
        create_node(&server, number).await;
        server.put(&format!("nodes/{number}"), &json!({"cluster_id": cluster_id})).await.expect(200);
    }
    let get = |path: &'static str| server.send_as(&member, "GET", path, &json!(null));
    assert_eq!(ids(&get("nodes").await.expect(200)), [1]);
    assert_eq!(ids(&get("nodes?cluster_id=").await.expect(200)), [0; 0]);
    assert_eq!(ids(&get("nodes?cluster_id=1").await.expect(200)), [0; 0]);
    assert_eq!(get("nodes/allocation/stats").await.expect(200), json!({"total": 1, "unallocated": 0}));
    get("nodes/1").await.expect(200);
    for path in ["nodes/2", "nodes/3", "nodes/2/attributes"] {
        assert_eq!(get(path).await.expect_error(404), "Node not found");
    }
    for (method, path) in
        [("POST", "nodes"), ("PUT", "nodes/1"), ("DELETE", "nodes/1"), ("PUT", "nodes/agent")]
    {
        server.send_as(&member, method, path, &json!({})).await.expect_error(403);
    }
}
