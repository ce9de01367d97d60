use serde_json::{Value, json};

use crate::beginnings::{create_cluster, create_cluster_of, create_node, id};
use crate::runs::{Site, task};
use crate::support::TestServer;

async fn get_node(server: &TestServer, node_id: i64) -> Value {
    server.get(&format!("nodes/{node_id}")).await.expect(200)
}

#[tokio::test]
async fn assigned_roles_are_pending() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    let (one, two) = (create_node(&server, 1).await, create_node(&server, 2).await);
    let path = format!("clusters/{cluster_id}/assignment/");
    let body = json!([{"id": two, "roles": ["compute", "ceph-osd"]}, {"id": one, "roles": ["controller"]}]);
    assert_eq!(server.post(&path, &body).await.expect(200), json!(null));
    let node = get_node(&server, two).await;
    assert_eq!(node["cluster"], cluster_id);
    assert_eq!((&node["roles"], &node["pending_roles"]), (&json!([]), &json!(["compute", "ceph-osd"])));
    assert_eq!(node["pending_addition"], true);
    // Reassignment replaces pending roles and cancels a pending deletion.
    server
        .put(&format!("nodes/{one}"), &json!({"status": "ready", "pending_addition": false}))
        .await
        .expect(200);
    server.post(&format!("clusters/{cluster_id}/unassignment"), &json!([{"id": one}])).await.expect(200);
    assert_eq!(get_node(&server, one).await["pending_deletion"], true);
    server.post(&path, &json!([{"id": one, "roles": ["compute"]}])).await.expect(200);
    let node = get_node(&server, one).await;
    assert_eq!((&node["pending_deletion"], &node["pending_addition"]), (&json!(false), &json!(false)));
    assert_eq!(node["pending_roles"], json!(["compute"]));
    server.post(&path, &json!([])).await.expect(200);
}

#[tokio::test]
async fn assignment_is_atomic() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    let elsewhere = create_cluster_of(&server, 1, "other").await;
    let (one, assigned) = (create_node(&server, 1).await, create_node(&server, 2).await);
    let path = format!("clusters/{cluster_id}/assignment");
    server
        .post(&format!("clusters/{elsewhere}/assignment"), &json!([{"id": assigned, "roles": []}]))
        .await
        .expect(200);
    for (body, message) in [
        (
            json!([{"id": one, "roles": []}, {"id": 9, "roles": []}, {"id": 8, "roles": []}]),
            "Nodes with ids 9, 8 were not found.",
        ),
        (json!([{"id": one, "roles": ["x"]}]), "x are not valid roles for nodes in cluster 1"),
        (
            json!([{"id": one, "roles": ["controller", "compute"]}]),
            "Role 'controller' in conflict with role 'compute'.",
        ),
        (json!([{"id": one, "roles": ["compute", "compute"]}]), "List of roles contains duplicates."),
        (
            json!([{"id": one, "roles": []}, {"id": assigned, "roles": []}]),
            "node 2 belongs to cluster 2; remove it from that cluster first",
        ),
        (json!([{"id": one, "roles": []}, {"id": one, "roles": []}]), "duplicate node 1"),
    ] {
        assert_eq!(server.post(&path, &body).await.expect_error(400), message, "{body}");
    }
    for body in [
        json!({}),
        json!([{"id": one}]),
        json!([{"roles": []}]),
        json!([{"id": "1", "roles": []}]),
        json!([{"id": 1, "roles": "x"}]),
        json!([1]),
    ] {
        server.post(&path, &body).await.expect_error(400);
    }
    let both = json!([{"id": one, "roles": ["x"]}, {"id": assigned, "roles": ["y"]}]);
    let reply = server.post(&path, &both).await.expect(400);
    assert_eq!(reply["errors"].as_array().unwrap().len(), 3);
    assert_eq!(reply["errors"][1]["path"], "[0].roles");
    assert_eq!(get_node(&server, one).await["cluster"], json!(null));
    server.post("clusters/9/assignment", &json!([])).await.expect_error(404);
}

#[tokio::test]
async fn duplicate_hostname_in_cluster_is_refused() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    let (one, two) = (create_node(&server, 1).await, create_node(&server, 2).await);
    for node in [one, two] {
        server.put(&format!("nodes/{node}"), &json!({"hostname": "same"})).await.expect(200);
    }
    let body = json!([{"id": one, "roles": []}, {"id": two, "roles": []}]);
    let message = server.post(&format!("clusters/{cluster_id}/assignment"), &body).await.expect_error(409);
    assert_eq!(message, "hostname `same` is already in use in cluster 1");
    assert_eq!(get_node(&server, one).await["cluster"], json!(null));
}

#[tokio::test]
async fn deployed_node_is_unassigned_by_the_next_run() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    let (fresh, deployed, free) =
        (create_node(&server, 1).await, create_node(&server, 2).await, create_node(&server, 3).await);
    let body = json!([{"id": fresh, "roles": ["compute"]}, {"id": deployed, "roles": ["compute"]}]);
    server.post(&format!("clusters/{cluster_id}/assignment"), &body).await.expect(200);
    server.put(&format!("nodes/{deployed}"), &json!({"status": "ready"})).await.expect(200);
    let path = format!("clusters/{cluster_id}/unassignment");
    let message = server.post(&path, &json!([{"id": fresh}, {"id": free}])).await.expect_error(400);
    assert_eq!(message, "Nodes [3] are not members of cluster 1");
    assert_eq!(
        server.post(&path, &json!([{"id": 77}])).await.expect_error(400),
        "Nodes with ids 77 were not found."
    );
    assert_eq!(get_node(&server, fresh).await["cluster"], cluster_id);
    assert_eq!(server.post(&path, &json!([{"id": fresh}, {"id": deployed}])).await.expect(200), json!(null));
    let node = get_node(&server, fresh).await;
    assert_eq!((&node["cluster"], &node["pending_roles"]), (&json!(null), &json!([])));
    let node = get_node(&server, deployed).await;
    assert_eq!((&node["cluster"], &node["pending_deletion"]), (&json!(cluster_id), &json!(true)));
}

#[tokio::test]
async fn viewer_cannot_assign_nodes() {
    let server = TestServer::new().await;
    let cluster_id = create_cluster(&server).await;
    let viewer = server.create_user("eve", "blue", "viewer").await;
    server
        .send_as(&viewer, "POST", &format!("clusters/{cluster_id}/assignment"), &json!([]))
        .await
        .expect_error(403);
    server
        .send_as(&viewer, "POST", &format!("clusters/{cluster_id}/unassignment"), &json!([]))
        .await
        .expect_error(403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deployed_node_is_unassigned_immediately_on_request() {
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    let [one, two] = site.nodes;
    let path = format!("clusters/{}/unassignment?now=", site.cluster);
    let body = json!([{"id": one}]);
    let run = id(&site.execute(json!({})).await.expect(202));
    let message = site.server.post(&format!("{path}1"), &body).await.expect_error(409);
    assert!(message.contains("stop it first"), "{message}");
    assert_eq!(get_node(&site.server, one).await["cluster"], site.cluster);
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.wait_for_end(run).await;
    site.server.put(&format!("nodes/{one}"), &json!({"status": "ready"})).await.expect(200);
    site.server.post(&format!("{path}maybe"), &body).await.expect_error(400);
    site.server.post(&format!("{path}0"), &body).await.expect(200);
    let node = get_node(&site.server, one).await;
    assert_eq!((&node["cluster"], &node["pending_deletion"]), (&json!(site.cluster), &json!(true)));
    // A node that is marked already can still be removed at once.
    site.server.post(&format!("{path}1"), &json!([{"id": one}, {"id": two}])).await.expect(200);
    for node in [one, two] {
        let node = get_node(&site.server, node).await;
        assert_eq!((&node["cluster"], &node["status"]), (&json!(null), &json!("discover")));
        assert_eq!((&node["pending_deletion"], &node["roles"]), (&json!(false), &json!([])));
    }
}
