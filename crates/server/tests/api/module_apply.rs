//! Applying modules to nodes: order, recorded results, failures and timeouts of agents.

use std::time::Duration;

use serde_json::{Value, json};
use stoker_settings::{Modules, Runs, Server};

use crate::agent::{AttemptLog, install_agents};
use crate::beginnings::{create_cluster, create_node};
use crate::modules::{CONTENTS, id};
use crate::support::TestServer;

/// A cluster in the admin's tenant with two nodes; module names select the behaviour of their agents.
pub(crate) struct Site {
    pub(crate) server: TestServer,
    pub(crate) attempts: AttemptLog,
    pub(crate) cluster: i64,
    pub(crate) nodes: [i64; 2],
}

impl Site {
    pub(crate) async fn new() -> Self {
        Self::with_settings(Modules::default()).await
    }

    pub(crate) async fn with_settings(modules: Modules) -> Self {
        let runs = Runs { local_agents: true, ..Runs::default() };
        let server = TestServer::with_settings(Server { runs, modules, ..Server::default() }).await;
        let attempts = install_agents(&server.app);
        server.app.start_background();
        let cluster = create_cluster(&server).await;
        let nodes = [create_node(&server, 1).await, create_node(&server, 2).await];
        let site = Self { server, attempts, cluster, nodes };
        site.assign(&nodes).await;
        site
    }

    pub(crate) async fn assign(&self, nodes: &[i64]) {
        let roles: Vec<Value> = nodes.iter().map(|id| json!({"id": id, "roles": ["compute"]})).collect();
        let path = format!("clusters/{}/assignment", self.cluster);
        self.server.post(&path, &json!(roles)).await.expect(200);
    }

    pub(crate) async fn apply(&self, node: i64, modules: &[&Value]) -> crate::support::Reply {
        let ids: Vec<Value> = modules.iter().map(|module| json!({"id": module["id"]})).collect();
        self.server.post(&modules_path(node), &json!({"modules": ids})).await
    }

    pub(crate) async fn applied_modules(&self, node: i64) -> Vec<String> {
        let listed = self.server.get(&modules_path(node)).await.expect(200);
        names(&listed)
    }

    /// Waits up to 15 seconds until exactly this many modules are applied to a node.
    pub(crate) async fn wait_for_modules(&self, node: i64, n_modules: usize) -> Vec<String> {
        for _ in 0..600 {
            let modules = self.applied_modules(node).await;
            if modules.len() == n_modules {
                return modules;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("node {node} has modules {:?}", self.applied_modules(node).await);
    }
}

pub(crate) fn modules_path(node: i64) -> String {
    format!("/v1.0/instances/{node}/modules")
}

pub(crate) fn names(listed: &Value) -> Vec<String> {
    let modules = listed["modules"].as_array().unwrap();
    modules.iter().map(|module| module["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn modules_are_applied_in_order_as_one_task() {
    let site = Site::new().await;
    let mut modules = Vec::new();
    for (name, priority, order) in
        [("f", 0, 9), ("c", 1, 9), ("a", 1, 0), ("e", 0, 1), ("b", 1, 4), ("d", 0, 0)]
    {
        modules.push(
            site.server.create_module(name, json!({"priority_apply": priority, "apply_order": order})).await,
        );
    }
    let unknown = json!({"id": "nonesuch"});
    let requested: Vec<&Value> = modules.iter().chain([&unknown]).collect();
    let applied = site.apply(site.nodes[0], &requested).await.expect(200);
    assert_eq!(names(&applied), ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(site.attempts.take(), [format!("apply a,b,c,d,e,f@{}", site.nodes[0])]);
    let listed = site.server.get(&modules_path(site.nodes[0])).await.expect(200);
    assert_eq!(names(&listed), ["f", "e", "d", "c", "b", "a"], "the last applied module is listed first");
    let stamps: Vec<&str> =
        listed["modules"].as_array().unwrap().iter().map(|row| row["updated"].as_str().unwrap()).collect();
    assert!(stamps.windows(2).all(|pair| pair[0] > pair[1]), "{stamps:?}");
    let first = &applied["modules"][0];
    assert_eq!((&first["status"], &first["message"]), (&json!("OK"), &json!("a\u{fffd}")));
    assert_eq!((&first["removed"], &first["contents"]), (&Value::Null, &Value::Null));
    assert_eq!(site.apply(site.nodes[0], &[&unknown]).await.expect(200), json!({"modules": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_module_does_not_stop_others() {
    let site = Site::new().await;
    let node = site.nodes[0];
    let (bad, good) = (
        site.server.create_module("bad", json!({})).await,
        site.server.create_module("good", json!({})).await,
    );
    let applied = site.apply(node, &[&good, &bad]).await.expect(200);
    assert_eq!(applied["modules"][0]["status"], "ERROR");
    assert_eq!(applied["modules"][1]["status"], "OK");
    assert_eq!(site.applied_modules(node).await, ["good", "bad"]);
    let module = site.server.get(&format!("/v1.0/modules/{}", id(&good))).await.expect(200);
    assert_eq!(module["module"]["instance_count"], 1);
    let instances = site.server.get(&format!("/v1.0/modules/{}/instances", id(&good))).await.expect(200);
    assert_eq!(instances["instances"][0]["id"], node.to_string());
    let reapplied = site.apply(node, &[&good]).await.expect(200);
    assert_eq!(reapplied["modules"][0]["created"], applied["modules"][1]["created"]);
    assert_ne!(reapplied["modules"][0]["updated"], applied["modules"][1]["updated"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn applied_module_is_immutable_unless_live() {
    let settings = Modules { batch_size: 1, batch_delay_seconds: 0, ..Modules::default() };
    let site = Site::with_settings(settings).await;
    let (fixed, live) = (
        site.server.create_module("fixed", json!({})).await,
        site.server.create_module("live", json!({"live_update": 1})).await,
    );
    for node in site.nodes {
        site.apply(node, &[&fixed, &live]).await.expect(200);
    }
    let path = |module: &Value| format!("/v1.0/modules/{}", id(module));
    let new = json!({"module": {"contents": "bmV3", "description": "x"}});
    let error = site.server.put(&path(&fixed), &new).await.expect_fault(403);
    assert!(error.starts_with("A module cannot be deleted or its contents modified if it has been applied"));
    site.server.delete(&path(&fixed)).await.expect_fault(403);
    site.server.put(&path(&live), &new).await.expect(200);
    let counts = async || {
        let response =
            site.server.get(&format!("{}/instances?count_only=True", path(&live))).await.expect(200);
        let rows = response["instances"].as_array().unwrap().clone();
        rows.iter()
            .map(|row| (row["instance_count"].as_i64().unwrap(), row["current"] == true))
            .collect::<Vec<_>>()
    };
    assert_eq!(counts().await, [(2, false)]);
    site.attempts.take();
    site.server.put(&format!("{}/instances", path(&live)), &json!({})).await.expect_fault(400);
    let reapply = json!({"reapply": {"batch_size": 100}});
    assert_eq!(site.server.put(&format!("{}/instances", path(&live)), &reapply).await.status, 202);
    for _ in 0..400 {
        if counts().await == [(2, true)] {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(counts().await, [(2, true)]);
    assert_eq!(site.attempts.take().len(), 2);
    assert_eq!(site.server.put(&format!("{}/instances", path(&live)), &reapply).await.status, 202);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(site.attempts.take(), Vec::<String>::new(), "current nodes are skipped");
    assert_eq!(site.server.delete(&path(&live)).await.status, 200);
    assert_eq!(site.applied_modules(site.nodes[0]).await, ["live", "fixed"], "nodes keep applied modules");
}

#[tokio::test(flavor = "multi_thread")]
async fn module_removal_is_idempotent_and_reversible() {
    let site = Site::new().await;
    let node = site.nodes[0];
    let module = site.server.create_module("m", json!({})).await;
    let path = format!("{}/{}", modules_path(node), id(&module));
    let error = site.server.delete(&path).await.expect_fault(400);
    assert!(error.starts_with("An error occurred communicating with the guest: "), "{error}");
    site.apply(node, &[&module]).await.expect(200);
    assert_eq!(site.server.delete(&path).await.status, 200);
    assert_eq!(site.applied_modules(node).await, Vec::<String>::new());
    assert_eq!(site.server.delete(&path).await.status, 200, "removal is idempotent");
    assert_eq!(site.attempts.take().len(), 2);
    site.apply(node, &[&module]).await.expect(200);
    assert_eq!(site.applied_modules(node).await, ["m"]);
    let bad = site.server.create_module("bad", json!({})).await;
    site.apply(node, &[&bad]).await.expect(200);
    let error = site.server.delete(&format!("{}/{}", modules_path(node), id(&bad))).await.expect_fault(400);
    assert!(error.contains("bad"), "{error}");
    site.server.delete(&format!("{}/nonesuch", modules_path(node))).await.expect_fault(404);
    let error = site.server.delete(&format!("{}/{}", modules_path(99), id(&module))).await.expect_fault(404);
    assert_eq!(error, "Resource 99 cannot be found.");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_or_timed_out_apply_records_nothing() {
    let site = Site::with_settings(Modules { apply_seconds: 1, ..Modules::default() }).await;
    let node = site.nodes[0];
    let refusing = site.server.create_module("refuse", json!({})).await;
    let error = site.apply(node, &[&refusing]).await.expect_fault(400);
    assert_eq!(error, "An error occurred communicating with the guest: no such driver");
    let hang = site.server.create_module("hang", json!({})).await;
    let started_at = site.server.app.clock.now();
    let error = site.apply(node, &[&hang]).await.expect_fault(400);
    assert!(error.starts_with("An error occurred communicating with the guest: "), "{error}");
    let micros = site.server.app.clock.now().0 - started_at.0;
    assert!(micros < 12_000_000, "{micros}");
    assert_eq!(site.applied_modules(node).await, Vec::<String>::new());
    let good = site.server.create_module("good", json!({})).await;
    site.apply(node, &[&good]).await.expect(200);
    site.server.put(&format!("nodes/{node}"), &json!({"online": false})).await.expect(200);
    let error = site.apply(node, &[&good]).await.expect_fault(400);
    assert!(error.ends_with("the agent of this node is not connected"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn applies_to_one_node_are_serialized() {
    let site = Site::new().await;
    let node = site.nodes[0];
    let mut modules = Vec::new();
    for number in 0..4 {
        modules.push(site.server.create_module(&format!("slow{number}"), json!({})).await);
    }
    let started_at = site.server.app.clock.now();
    let [a, b, c, d] = [0, 1, 2, 3].map(|number: usize| [&modules[number]]);
    let (a, b, c, d) =
        tokio::join!(site.apply(node, &a), site.apply(node, &b), site.apply(node, &c), site.apply(node, &d));
    for reply in [a, b, c, d] {
        assert_eq!(reply.expect(200)["modules"][0]["status"], "OK");
    }
    let micros = site.server.app.clock.now().0 - started_at.0;
    assert!(micros >= 600_000, "applies are serialized: {micros}");
    assert_eq!(site.applied_modules(node).await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn module_of_other_datastore_aborts_the_apply() {
    let site = Site::new().await;
    let other = crate::beginnings::release_body();
    crate::beginnings::create_release_from(
        &site.server,
        stoker_model::NewRelease { name: "S".to_owned(), ..other },
    )
    .await;
    let incompatible = site.server.create_module("strange", json!({"datastore": {"type": "S"}})).await;
    let good =
        site.server.create_module("good", json!({"datastore": {"type": "R", "version": "mitaka-9.0"}})).await;
    let error = site.apply(site.nodes[0], &[&good, &incompatible]).await.expect_fault(400);
    assert!(error.starts_with("The module is invalid: Module 'strange' cannot be applied"), "{error}");
    assert_eq!(site.applied_modules(site.nodes[0]).await, Vec::<String>::new());
    assert_eq!(site.attempts.take(), Vec::<String>::new());
    site.apply(site.nodes[0], &[&good]).await.expect(200);
    for body in [json!({}), json!({"modules": 1}), json!({"modules": [{}]})] {
        site.server.post(&modules_path(site.nodes[0]), &body).await.expect_fault(400);
    }
    site.server.post(&modules_path(99), &json!({"modules": []})).await.expect_fault(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn module_contents_are_redacted_except_on_request() {
    let site = Site::new().await;
    let node = site.nodes[0];
    let module = site.server.create_module("m", json!({"contents": "aHVudGVyMiBpcyBteSBzZWNyZXQ="})).await;
    site.apply(node, &[&module]).await.expect(200);
    let secrets = site.attempts.secrets();
    assert!(secrets.contains(&"aHVudGVyMiBpcyBteSBzZWNyZXQ=".to_owned()));
    assert!(secrets.contains(&"hunter2 is my secret".to_owned()));
    let runs = site.server.get("transactions/").await.expect(200);
    let run = runs.as_array().unwrap().iter().find(|run| run["name"] == "modules").unwrap().clone();
    assert_eq!(run["status"], "ready");
    let history =
        site.server.get(&format!("transactions/{}/deployment_history", run["id"])).await.expect(200);
    for text in [runs.to_string(), history.to_string(), site.server.get("audit/").await.body.to_string()] {
        assert!(!text.contains("aHVudGVyMi") && !text.contains("hunter2"), "{text}");
    }
    let listed = site.server.get(&format!("{}?include_contents=True", modules_path(node))).await.expect(200);
    assert_eq!(listed["modules"][0]["contents"], "aHVudGVyMiBpcyBteSBzZWNyZXQ=");
    let queried = site.server.get(&format!("{}?from_guest=True", modules_path(node))).await.expect(200);
    assert_eq!(queried["modules"][0]["contents"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_apply_follows_assignment_and_deployment() {
    let site = Site::new().await;
    let auto = |name: &str, extra: Value| {
        let mut options = json!({"auto_apply": 1, "apply_order": 3, "contents": CONTENTS});
        for (key, value) in extra.as_object().unwrap() {
            options[key] = value.clone();
        }
        (name.to_owned(), options)
    };
    let mut modules = Vec::new();
    for (name, options) in [auto("second", json!({})), auto("bad-first", json!({"priority_apply": 1}))] {
        modules.push(site.server.create_module(&name, options).await);
    }
    site.server.create_module("manual", json!({})).await;
    let third = create_node(&site.server, 3).await;
    site.assign(&[third]).await;
    assert_eq!(site.wait_for_modules(third, 2).await, ["second", "bad-first"]);
    assert_eq!(site.attempts.take(), [format!("apply bad-first,second@{third}")]);
    let tasks = json!([crate::runs::task("t", json!("*"), "true", json!({}))]);
    let path = format!("clusters/{}/deployment_tasks/?graph_type=default", site.cluster);
    site.server.put(&path, &tasks).await.expect(200);
    let execute = json!({"cluster": site.cluster, "graphs": [{"type": "default"}]});
    site.server.post("graphs/execute/", &execute).await.expect(202);
    for node in site.nodes {
        assert_eq!(site.wait_for_modules(node, 2).await, ["second", "bad-first"]);
    }
    let cluster = site.server.get(&format!("clusters/{}", site.cluster)).await.expect(200);
    assert_eq!(cluster["status"], "operational", "a failed module does not fail the deployment");
    // The lists of the nodes are applied independently: the list of the third node may still be pending.
    let mut attempts = site.attempts.take();
    let retried = format!("apply bad-first@{third}");
    for _ in 0..600 {
        if attempts.contains(&retried) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
        attempts.extend(site.attempts.take());
    }
    assert!(attempts.contains(&retried), "successful modules are not applied again: {attempts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_apply_is_not_lost_during_other_applies() {
    let site = Site::new().await;
    let third = create_node(&site.server, 3).await;
    site.assign(&[third]).await;
    let (hang, auto) = (
        site.server.create_module("slow1", json!({})).await,
        site.server.create_module("auto", json!({"auto_apply": 1})).await,
    );
    let tasks = json!([crate::runs::task("t", json!("*"), "true", json!({}))]);
    let path = format!("clusters/{}/deployment_tasks/?graph_type=default", site.cluster);
    site.server.put(&path, &tasks).await.expect(200);
    let execute = json!({"cluster": site.cluster, "graphs": [{"type": "default"}]});
    let applying = async {
        // An apply is always in progress while the deployment ends.
        for _ in 0..8 {
            site.apply(third, &[&hang]).await.expect(200);
        }
    };
    let deploying = site.server.post("graphs/execute/", &execute);
    let (deployed, ()) = tokio::join!(deploying, applying);
    deployed.expect(202);
    for node in [site.nodes[0], third] {
        for _ in 0..400 {
            if site.applied_modules(node).await.contains(&"auto".to_owned()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        assert!(site.applied_modules(node).await.contains(&"auto".to_owned()), "node {node}");
    }
    assert_eq!(auto["auto_apply"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn reapply_resumes_after_server_restart() {
    let settings = Modules { batch_size: 1, batch_delay_seconds: 3, ..Modules::default() };
    let site = Site::with_settings(settings).await;
    let live = site.server.create_module("live", json!({"live_update": 1})).await;
    for node in site.nodes {
        site.apply(node, &[&live]).await.expect(200);
    }
    let path = format!("/v1.0/modules/{}", id(&live));
    site.server.put(&path, &json!({"module": {"contents": "bmV3"}})).await.expect(200);
    site.attempts.take();
    let reapply = json!({"reapply": {}});
    assert_eq!(site.server.put(&format!("{path}/instances"), &reapply).await.status, 202);
    let first = format!("apply live@{}", site.nodes[0]);
    let instance_counts = async || {
        let instance_counts = site.server.get(&format!("{path}/instances?count_only=True")).await.expect(200);
        instance_counts["instances"].as_array().unwrap().clone()
    };
    // Wait until the first result is stored: agents of the next server have no journal, so an attempt without
    // a stored result would be lost.
    for _ in 0..400 {
        if site.attempts.entries() == [first.clone()] && instance_counts().await.len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    site.server.app.stop_background();
    let (store, settings) = (site.server.app.store.clone(), site.server.app.settings.clone());
    let (restarted, _) = stoker_server::App::new(store, settings).await.unwrap();
    let later_attempts = install_agents(&restarted);
    restarted.start_background();
    let is_current = async || {
        let rows = instance_counts().await;
        rows.len() == 1 && rows[0]["current"] == true && rows[0]["instance_count"] == 2
    };
    for _ in 0..600 {
        if is_current().await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert!(is_current().await);
    let all_attempts = [site.attempts.take(), later_attempts.take()].concat();
    assert_eq!(all_attempts, [first, format!("apply live@{}", site.nodes[1])]);
    restarted.stop_background();
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_to_node_without_agent_fails_immediately() {
    let server = TestServer::new().await;
    let cluster = create_cluster(&server).await;
    let node = create_node(&server, 1).await;
    let roles = json!([{"id": node, "roles": ["compute"]}]);
    server.post(&format!("clusters/{cluster}/assignment"), &roles).await.expect(200);
    server.put(&format!("nodes/{node}"), &json!({"online": true})).await.expect(200);
    let module = server.create_module("m", json!({})).await;
    let started_at = server.app.clock.now();
    let error =
        server.post(&modules_path(node), &json!({"modules": [{"id": module["id"]}]})).await.expect_fault(400);
    assert!(error.starts_with("An error occurred communicating with the guest: node"), "{error}");
    assert!(error.contains("stoker agent"), "{error}");
    assert!(server.app.clock.now().0 - started_at.0 < 5_000_000);
}
