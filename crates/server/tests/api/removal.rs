//! Removal of marked nodes by the next run.

use serde_json::{Value, json};

use crate::beginnings::id;
use crate::runs::{Site, task};

fn nothing() -> Vec<String> {
    Vec::new()
}

/// A deployed cluster whose second node is marked for removal.
async fn marked_site() -> Site {
    let condition = json!({"condition": {"yaql_exp": "changed($.settings.common.debug.value)"}});
    let site = Site::new(&json!([task("title", json!("*"), "true", condition)])).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    site.attempts.take();
    site.mark(site.nodes[1]).await;
    site
}

impl Site {
    async fn mark(&self, node: i64) {
        let path = format!("clusters/{}/unassignment", self.cluster);
        self.server.post(&path, &json!([{"id": node}])).await.expect(200);
        assert_eq!(self.node(node).await["pending_deletion"], true);
    }

    async fn node(&self, node: i64) -> Value {
        self.server.get(&format!("nodes/{node}")).await.expect(200)
    }

    async fn cluster_plan(&self) -> Value {
        self.server.post(&format!("clusters/{}/plans", self.cluster), &json!({})).await.expect(201)
    }

    async fn apply(&self, plan: &Value) -> Value {
        let path = format!("plans/{}/apply", plan["id"]);
        let run = id(&self.server.post(&path, &json!({})).await.expect(202));
        self.wait_for_end(run).await
    }

    /// Uploads a graph `deletion` whose node filter selects no node.
    async fn upload_deletion(&self, cmd: &str) {
        self.upload("deletion", &json!([task("wipe", json!("*"), cmd, json!({}))])).await;
        let path = format!("clusters/{}/deployment_graphs/deletion/", self.cluster);
        self.server.patch(&path, &json!({"node_filter": "false"})).await.expect(200);
    }

    async fn require_removed(&self, node: i64) {
        let node = self.node(node).await;
        assert_eq!((&node["cluster"], &node["status"]), (&Value::Null, &json!("discover")), "{node}");
        assert_eq!(node["pending_deletion"], false, "{node}");
        assert_eq!(self.cluster_status().await, "operational");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn marked_node_leaves_without_a_graph() {
    let site = marked_site().await;
    let plan = site.cluster_plan().await;
    assert_eq!((&plan["n_run"], &plan["removals"]), (&json!(0), &json!([site.nodes[1]])), "{plan}");
    assert_eq!(plan["parent_id"], Value::Null);
    assert_eq!(site.deploy(json!({"dry_run": true})).await["status"], "ready");
    assert_eq!(site.node(site.nodes[1]).await["pending_deletion"], true, "a dry run removes nothing");
    assert_eq!(site.apply(&plan).await["status"], "ready");
    site.require_removed(site.nodes[1]).await;
    assert_eq!(site.attempts.take(), nothing());
    assert_eq!(site.cluster_plan().await["removals"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletion_graph_runs_on_marked_nodes_before_they_leave() {
    let site = marked_site().await;
    site.upload_deletion("true").await;
    let plan = site.cluster_plan().await;
    assert_eq!(plan["removals"], json!([site.nodes[1]]), "{plan}");
    let parent = plan["parent_id"].as_i64().unwrap();
    let wiped = format!("wipe@{}", site.nodes[1]);
    let instances = site.server.get(&format!("plans/{parent}/instances?action=run")).await.expect(200);
    assert_eq!(instances.as_array().unwrap().len(), 1, "{instances}");
    assert_eq!(site.apply(&plan).await["status"], "ready");
    assert_eq!(site.attempts.take(), [wiped]);
    site.require_removed(site.nodes[1]).await;
    // Runs that plan for themselves remove nodes too.
    let roles = json!([{"id": site.nodes[1], "roles": ["compute"]}]);
    site.server.post(&format!("clusters/{}/assignment", site.cluster), &roles).await.expect(200);
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    assert_eq!(site.attempts.take(), [format!("title@{}", site.nodes[1])], "nothing is remembered of it");
    site.mark(site.nodes[1]).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    assert_eq!(site.attempts.take(), [format!("wipe@{}", site.nodes[1])]);
    site.require_removed(site.nodes[1]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_deletion_leaves_the_node_marked() {
    let site = marked_site().await;
    site.upload_deletion("fail").await;
    assert_eq!(site.deploy(json!({"force": true})).await["status"], "error");
    assert_eq!(site.attempts.take(), [format!("wipe@{}", site.nodes[1])], "the default graph did not start");
    let node = site.node(site.nodes[1]).await;
    assert_eq!((&node["status"], &node["error_type"]), (&json!("error"), &json!("deletion")), "{node}");
    assert_eq!(node["pending_deletion"], true);
    site.upload_deletion("true").await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    site.require_removed(site.nodes[1]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn offline_node_stays_marked_and_the_run_is_partial() {
    let site = marked_site().await;
    site.upload_deletion("true").await;
    let offline = json!({"online": false});
    site.server.put(&format!("nodes/{}", site.nodes[1]), &offline).await.expect(200);
    let run = site.deploy(json!({})).await;
    assert_eq!((&run["status"], &run["result"]["outcome"]), (&json!("error"), &json!("partial")), "{run}");
    assert_eq!(site.node(site.nodes[1]).await["pending_deletion"], true);
    assert_eq!(site.attempts.take(), nothing());
}

/// Nothing has to run on the node, so that nothing is left out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn offline_node_leaves_without_a_graph() {
    let site = marked_site().await;
    let offline = json!({"online": false});
    site.server.put(&format!("nodes/{}", site.nodes[1]), &offline).await.expect(200);
    let plan = site.cluster_plan().await;
    let run = site.apply(&plan).await;
    assert_eq!(run["status"], "ready", "{run}");
    site.require_removed(site.nodes[1]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_is_out_of_date_after_another_mark_or_a_new_deletion_graph() {
    let site = marked_site().await;
    let plan = site.cluster_plan().await;
    site.upload_deletion("true").await;
    let path = format!("plans/{}/apply", plan["id"]);
    let message = site.server.post(&path, &json!({})).await.expect_error(409);
    assert!(message.contains("nodes that are marked for removal"), "{message}");
    let plan = site.cluster_plan().await;
    site.mark(site.nodes[0]).await;
    let path = format!("plans/{}/apply", plan["id"]);
    let message = site.server.post(&path, &json!({})).await.expect_error(409);
    assert!(message.contains("nodes that are marked for removal"), "{message}");
    assert_eq!(site.attempts.take(), nothing());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_plan_leaves_no_plan_of_the_deletion_graph() {
    let site = marked_site().await;
    site.upload_deletion("true").await;
    let broken = json!({"condition": {"yaql_exp": "$.nothing"}});
    site.upload("default", &json!([task("title", json!("*"), "true", broken)])).await;
    let path = format!("clusters/{}/plans", site.cluster);
    let before = site.server.get(&path).await.expect(200);
    site.server.post(&path, &json!({})).await.expect_error(400);
    assert_eq!(site.server.get(&path).await.expect(200), before);
}

/// A run of a part of the cluster changes nothing outside of this part.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restricted_runs_remove_no_node() {
    let site = marked_site().await;
    site.upload_deletion("true").await;
    site.upload("other", &json!([task("other", json!(["controller"]), "true", json!({}))])).await;
    for graphs in [
        json!([{"type": "default", "nodes": [site.nodes[0]]}]),
        json!([{"type": "default", "tasks": ["title"]}]),
        json!([{"type": "other"}]),
    ] {
        assert_eq!(site.deploy(json!({"graphs": graphs})).await["status"], "ready", "{graphs}");
        assert_eq!(site.node(site.nodes[1]).await["pending_deletion"], true, "{graphs}");
    }
    let restricted = json!({"nodes": [site.nodes[0]]});
    let path = format!("clusters/{}/plans", site.cluster);
    let plan = site.server.post(&path, &restricted).await.expect(201);
    assert_eq!((&plan["removals"], &plan["parent_id"]), (&json!([]), &Value::Null));
}

/// The graph `deletion` of a sequence covers marked nodes only, and does not run twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletion_graph_of_a_sequence_covers_marked_nodes_only() {
    let site = marked_site().await;
    site.upload("deletion", &json!([task("wipe", json!("*"), "true", json!({}))])).await;
    let graphs = json!({"graphs": [{"type": "deletion"}, {"type": "default"}]});
    assert_eq!(site.deploy(graphs.clone()).await["status"], "ready");
    assert_eq!(site.attempts.take(), [format!("wipe@{}", site.nodes[1])]);
    site.require_removed(site.nodes[1]).await;
    assert_eq!(site.deploy(graphs).await["status"], "ready");
    assert_eq!(site.attempts.take(), nothing(), "no node is marked");
}
