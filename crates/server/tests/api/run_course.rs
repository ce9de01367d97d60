//! Runs that are stopped, paused and taken up again, across several graphs, and with what came of them told.

use std::time::Duration;

use serde_json::{Value, json};
use stoker_model::NodeId;

use crate::beginnings::id;
use crate::fixtures::{commit, writing};
use crate::runs::{Site, task};

/// Two graphs; the first has one task, which takes a moment.
async fn two_graphs() -> (Site, i64) {
    let site = Site::new(&json!([task("one", json!(["controller"]), "take a moment", json!({}))])).await;
    site.upload("second", &json!([task("two", json!(["controller"]), "true", json!({}))])).await;
    let graphs = json!({"graphs": [{"type": "default"}, {"type": "second"}]});
    let run = id(&site.execute(graphs).await.expect(202));
    site.until_begun().await;
    (site, run)
}

impl Site {
    async fn parts(&self, run: i64) -> Vec<Value> {
        let shown = self.server.get(&format!("runs/{run}")).await.expect(200);
        shown["parts"].as_array().unwrap().clone()
    }

    async fn until_part(&self, run: i64, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        for _ in 0..400 {
            let parts = self.parts(run).await;
            if is_so(&parts) {
                return parts;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("the parts of run {run} did not come to that in time: {:?}", self.parts(run).await);
    }

    async fn retry(&self, run: i64, body: &Value) -> Value {
        let again = id(&self.server.post(&format!("runs/{run}/retry"), body).await.expect(202));
        self.ended(again).await
    }
}

/// The predecessor began the next graph of a sequence after a stop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_during_last_task_prevents_the_next_graph() {
    let (site, run) = two_graphs().await;
    site.server.post(&format!("runs/{run}/stop"), &json!({})).await.expect(202);
    let ended = site.ended(run).await;
    assert_eq!(
        (&ended["status"], &ended["message"], &ended["stopped"]),
        (&json!("error"), &json!("The run was stopped"), &json!(true)),
        "{ended}"
    );
    assert_eq!(site.deeds.take(), [format!("one@{}", site.nodes[0])]);
    let parts = site.parts(run).await;
    assert_eq!((&parts[0]["run"]["status"], &parts[0]["run"]["stopped"]), (&json!("ready"), &json!(false)));
    assert_eq!((&parts[1]["run"]["status"], &parts[1]["run"]["stopped"]), (&json!("error"), &json!(true)));
    assert_eq!(parts[1]["plan_id"], json!(null), "it was not even planned");
    assert_eq!(site.cluster_status().await, "stopped");
    // What was not begun can be.
    assert_eq!(site.retry(run, &Value::Null).await["status"], "ready");
    assert_eq!(site.deeds.take(), [format!("two@{}", site.nodes[0])]);
    assert_eq!(site.cluster_status().await, "partially_deployed", "the other node was never deployed to");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pause_applies_to_following_graphs() {
    let (site, run) = two_graphs().await;
    site.server.post(&format!("runs/{run}/pause"), &Value::Null).await.expect(202);
    let parts = site.until_part(run, |parts| parts[1]["is_paused"] == true).await;
    assert_eq!((&parts[0]["run"]["status"], &parts[0]["is_paused"]), (&json!("ready"), &json!(false)));
    assert_eq!(parts[1]["run"]["status"], "running");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(site.deeds.take(), [format!("one@{}", site.nodes[0])]);
    site.server.post(&format!("runs/{run}/pause"), &Value::Null).await.refused(409);
    site.server.post(&format!("runs/{run}/resume"), &Value::Null).await.expect(202);
    assert_eq!(site.ended(run).await["status"], "ready");
    assert_eq!(site.deeds.take(), [format!("two@{}", site.nodes[0])]);
    let ended = site.server.post(&format!("runs/{run}/pause"), &Value::Null).await.refused(409);
    assert_eq!(ended, format!("run {run} has ended"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_ends_the_pause() {
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    site.until_begun().await;
    site.server.post(&format!("runs/{run}/pause"), &Value::Null).await.expect(202);
    assert_eq!(site.parts(run).await[0]["is_paused"], true);
    site.server.post(&format!("runs/{run}/stop"), &json!({})).await.expect(202);
    assert_eq!(site.parts(run).await[0]["is_paused"], false);
    site.server.post(&format!("runs/{run}/resume"), &Value::Null).await.refused(409);
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.ended(run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_noop_run_does_not_change_statuses() {
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    let run = id(&site.execute(json!({"noop_run": true})).await.expect(202));
    site.until_begun().await;
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    let ended = site.ended(run).await;
    assert_eq!((&ended["status"], &ended["stopped"]), (&json!("error"), &json!(true)), "{ended}");
    assert_eq!(site.cluster_status().await, "new");
    assert_eq!(site.statuses().await, ["discover", "discover"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tolerated_failures_can_be_retried() {
    let tasks = json!([
        {"id": "crowd", "type": "group", "version": "2.0.0", "roles": ["compute"], "fault_tolerance": 1},
        task("bad", json!(["compute"]), "fail", json!({})),
        task("good", json!(["controller"]), "true", json!({})),
    ]);
    let site = Site::new(&tasks).await;
    let run = site.deploy(json!({})).await;
    assert_eq!(
        (&run["status"], &run["message"]),
        (&json!("ready"), &json!("1 node failed, which its group tolerates"))
    );
    site.deeds.take();
    let again = site.retry(id(&run), &Value::Null).await;
    assert_eq!(again["status"], "ready");
    assert_eq!(site.deeds.take(), [format!("bad@{}", site.nodes[1])]);
    // Where nothing failed, and where a failure does not matter, nothing is left.
    let harmless = json!({"fail_on_error": false});
    let tasks = json!([
        task("bad", json!(["compute"]), "fail", harmless),
        task("good", json!("*"), "true", json!({}))
    ]);
    site.upload("default", &tasks).await;
    let run = id(&site.deploy(json!({})).await);
    let refused = site.server.post(&format!("runs/{run}/retry"), &Value::Null).await.refused(409);
    assert_eq!(refused, format!("nothing of run {run} is left to be done"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retry_from_task_reruns_its_dependents() {
    let tasks = json!([
        task("first", json!("*"), "true", json!({})),
        task("then", json!(["controller"]), "true", json!({"requires": ["first"]})),
        task("bad", json!(["controller"]), "fail", json!({"requires": ["then"]})),
        task("last", json!(["controller"]), "true", json!({"requires": ["bad"]})),
    ]);
    let site = Site::new(&tasks).await;
    let [one, two] = site.nodes;
    let run = id(&site.deploy(json!({})).await);
    assert_eq!(site.deeds.take().len(), 4);
    let path = format!("runs/{run}/retry");
    for (body, told) in [
        (json!({"from": ["nothing"]}), "`nothing` is in no plan"),
        (json!({"from": ["then", format!("then/{two}")]}), "is in no plan"),
        (json!({"from": []}), "name a task"),
        (json!({"from": "then"}), "must be a list"),
        (json!({"since": ["then"]}), "unknown key"),
        (json!(["then"]), "must be a map"),
    ] {
        let message = site.server.post(&path, &body).await.refused(400);
        assert!(message.contains(told), "{body}: {message}");
    }
    assert_eq!(site.deeds.take(), Vec::<String>::new());
    // What succeeded is done again too, and nothing beside.
    let again = site.retry(run, &json!({"from": ["then"]})).await;
    assert_eq!(again["status"], "error", "it fails again: the plan is the same");
    assert_eq!(site.deeds.take(), [format!("then@{one}"), format!("bad@{one}")]);
    let parts = site.parts(id(&again)).await;
    assert_eq!(parts[0]["plan_id"], site.parts(run).await[0]["plan_id"]);
    // The rest of that is the rest of its part of the plan.
    site.retry(id(&again), &Value::Null).await;
    assert_eq!(site.deeds.take(), [format!("bad@{one}")]);
    site.retry(run, &json!({"from": [format!("first/{two}")]})).await;
    assert_eq!(site.deeds.take(), [format!("first@{two}")], "nothing of the other node waits for it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retry_from_task_skips_earlier_graphs() {
    let site = Site::new(&json!([task("one", json!(["controller"]), "true", json!({}))])).await;
    let second = json!([
        task("two", json!(["controller"]), "true", json!({})),
        task("bad", json!(["controller"]), "fail", json!({"requires": ["two"]})),
    ]);
    site.upload("second", &second).await;
    site.upload("third", &json!([task("three", json!(["controller"]), "true", json!({}))])).await;
    let graphs = json!([{"type": "default"}, {"type": "second"}, {"type": "third"}]);
    let run = id(&site.deploy(json!({"graphs": graphs})).await);
    site.deeds.take();
    let again = site.retry(run, &json!({"from": ["two"]})).await;
    let types: Vec<Value> =
        site.parts(id(&again)).await.iter().map(|part| part["run"]["graph_type"].clone()).collect();
    assert_eq!(types, ["second", "third"]);
    let node = site.nodes[0];
    assert_eq!(site.deeds.take(), [format!("two@{node}"), format!("bad@{node}")]);
}

/// A run of a part of a graph says nothing about nodes that have nothing to do in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partial_run_keeps_status_of_uninvolved_nodes() {
    let tasks = json!([
        {"id": "all", "type": "group", "version": "2.0.0", "roles": "*", "fault_tolerance": 2},
        task("good", json!(["controller"]), "true", json!({})),
        task("bad", json!(["compute"]), "fail", json!({})),
    ]);
    let site = Site::new(&tasks).await;
    let good = json!({"type": "default", "tasks": ["good"]});
    site.deploy(json!({"graphs": [good]})).await;
    assert_eq!(site.statuses().await, ["ready", "discover"], "nothing was ever done on the other");
    let run = id(&site.deploy(json!({"force": true})).await);
    assert_eq!(site.statuses().await, ["ready", "error"]);
    site.deploy(json!({"graphs": [good], "force": true})).await;
    site.deploy(json!({"subgraphs": [{"start": ["good"]}], "force": true})).await;
    site.retry(run, &json!({"from": ["good"]})).await;
    assert_eq!(site.statuses().await, ["ready", "error"], "what failed there was not done again");
    assert_eq!(site.cluster_status().await, "partially_deployed");
    site.retry(run, &json!({"from": ["bad"]})).await;
    assert_eq!(site.statuses().await, ["ready", "error"]);
    // The graph as a whole has nothing left to do there, so all is well.
    let other = json!({"type": "skipped", "id": "bad", "version": "2.0.0", "roles": ["compute"]});
    site.upload("default", &json!([tasks[1], other])).await;
    site.deploy(json!({})).await;
    assert_eq!(site.statuses().await, ["ready", "ready"]);
}

/// Who is away takes no part, and nobody may believe that it was done there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn offline_nodes_are_named_in_the_run_message() {
    let site = Site::new(&json!([task("all", json!("*"), "true", json!({}))])).await;
    let [one, two] = site.nodes;
    let mut writing = writing(&site.server).await;
    let mut node = writing.node_get(NodeId(two)).await.unwrap().unwrap();
    node.online = false;
    writing.node_update(&node).await.unwrap();
    commit(writing).await;
    let expected = json!(format!("Node {two} is not online and took no part"));
    for extra in
        [json!({"dry_run": true}), json!({}), json!({"graphs": [{"type": "default", "nodes": [two]}]})]
    {
        let run = site.deploy(extra).await;
        assert_eq!((&run["status"], &run["message"]), (&json!("ready"), &expected));
    }
    assert_eq!(site.deeds.take(), [format!("all@{one}")]);
    let run = site.deploy(json!({"graphs": [{"type": "default", "nodes": [one]}]})).await;
    assert_eq!(run["message"], json!(null), "the other was not asked for");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subgraph_without_matching_instance_fails_the_run() {
    let site = Site::new(&json!([task("all", json!(["controller"]), "true", json!({}))])).await;
    let reference = format!("all/{}", site.nodes[1]);
    let run = site.deploy(json!({"subgraphs": [{"start": [reference]}]})).await;
    assert_eq!(run["status"], "error", "{run}");
    assert!(run["message"].as_str().unwrap().contains(&format!("begin at `{reference}`")), "{run}");
    assert_eq!(site.deeds.take(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deploy_changes_sequence_honors_node_selection() {
    let site = Site::new(&json!([task("one", json!("*"), "true", json!({}))])).await;
    site.upload("second", &json!([task("two", json!("*"), "true", json!({}))])).await;
    let [one, two] = site.nodes;
    let release =
        site.server.get(&format!("clusters/{}", site.cluster)).await.expect(200)["release_id"].clone();
    let graphs = json!([{"type": "default"}, {"type": "second", "nodes": [one]}]);
    let sequence = json!({"release": release, "name": "deploy-changes", "graphs": graphs});
    site.server.post("sequences/", &sequence).await.expect(201);
    let changes = async |query: &str| {
        let path = format!("clusters/{}/changes{query}", site.cluster);
        let run = id(&site.server.put(&path, &json!({})).await.expect(202));
        assert_eq!(site.ended(run).await["status"], "ready");
        let mut deeds = site.deeds.take();
        deeds.sort();
        deeds
    };
    assert_eq!(changes(&format!("?nodes={two}")).await, [format!("one@{two}")]);
    assert_eq!(changes(&format!("?nodes={one}")).await, [format!("one@{one}"), format!("two@{one}")]);
    assert_eq!(changes("").await.len(), 3);
    let path = format!("clusters/{}/changes?nodes=99", site.cluster);
    site.server.put(&path, &json!({})).await.refused(400);
}

/// Expressions take `1`, `1.0` and `true` for equal; whatever a task prints does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_is_stale_when_a_setting_changes_type() {
    let site = Site::new(&json!([task("one", json!("*"), "true", json!({}))])).await;
    let set = async |value: Value| {
        let settings = json!({"editable": {"common": {"level": {"type": "hidden", "value": value}}}});
        site.server.put(&format!("clusters/{}/attributes", site.cluster), &settings).await.expect(200);
    };
    set(json!(1)).await;
    let path = format!("clusters/{}/plans", site.cluster);
    let plan = id(&site.server.post(&path, &json!({})).await.expect(201));
    for value in [json!(true), json!(1.0)] {
        set(value).await;
        let refused = site.server.post(&format!("plans/{plan}/apply"), &json!({})).await.refused(409);
        assert!(refused.contains("out of date") && refused.contains("the setting `"), "{refused}");
    }
    set(json!(1)).await;
    let run = id(&site.server.post(&format!("plans/{plan}/apply"), &json!({})).await.expect(202));
    assert_eq!(site.ended(run).await["status"], "ready");
}

/// A task that nothing can be done with is found before others have done their part.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_parameters_fail_the_run_before_dispatch() {
    let bare = |name: &str, more: Value| {
        let mut task = task(name, json!(["compute"]), "", more);
        task["parameters"] = json!({"cmd": {"yaql_exp": "null"}});
        task
    };
    let good = task("good", json!(["controller"]), "true", json!({}));
    let site = Site::new(&json!([good.clone(), bare("one", json!({})), bare("two", json!({}))])).await;
    let path = format!("clusters/{}/plans", site.cluster);
    let plan = id(&site.server.post(&path, &json!({})).await.expect(201));
    let shown = site.server.get(&format!("plans/{plan}")).await.expect(200);
    let codes: Vec<&Value> =
        shown["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
    assert_eq!(codes, ["plan-parameters", "plan-parameters"], "{shown}");
    let run = site.deploy(json!({})).await;
    assert_eq!(
        (&run["status"], &run["message"]),
        (
            &json!("error"),
            &json!(
                "the plan cannot be run: task `one`: Missing a required parameter cmd; \
                 task `two`: Missing a required parameter cmd"
            )
        )
    );
    assert_eq!(site.deeds.take(), Vec::<String>::new());
    // Where a failure does not matter, it is one.
    site.upload("default", &json!([good, bare("one", json!({"fail_on_error": false}))])).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    // Numbers that make no sense make no plan.
    let mut slow = task("slow", json!("*"), "true", json!({}));
    slow["parameters"]["timeout"] = json!({"yaql_exp": "-1"});
    slow["parameters"]["retries"] = json!("often");
    site.upload("default", &json!([slow])).await;
    let refused = site.server.post(&path, &json!({})).await.expect(400);
    let paths: Vec<&Value> =
        refused["errors"].as_array().unwrap().iter().map(|error| &error["path"]).collect();
    assert_eq!(paths, ["tasks.slow.parameters.retries", "tasks.slow.parameters.timeout"], "{refused}");
}

/// What nodes become is said by the graph, for each way in which it can end for them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn graph_node_attributes_are_applied_per_outcome() {
    let site = Site::new(&json!([])).await;
    let [one, two] = site.nodes;
    let set = async |tasks: Value, ends: Value| {
        let mut graph = json!({"tasks": tasks});
        for (key, attributes) in ends.as_object().unwrap() {
            graph[key] = json!({"node_attributes": attributes});
        }
        let path = format!("clusters/{}/deployment_graphs/default", site.cluster);
        site.server.put(&path, &graph).await.expect(200);
    };
    let node = async |id: i64| site.server.get(&format!("nodes/{id}")).await.expect(200);
    let tasks = json!([
        task("good", json!(["controller"]), "true", json!({})),
        task("bad", json!(["compute"]), "fail", json!({})),
    ]);
    let ends = json!({
        "on_success": {"status": "provisioned", "pending_addition": false},
        "on_error": {"status": "error", "error_type": "provision", "error_msg": "no image"},
    });
    set(tasks, ends).await;
    site.deploy(json!({})).await;
    let (good, bad) = (node(one).await, node(two).await);
    assert_eq!(
        (&good["status"], &good["pending_addition"]),
        (&json!("provisioned"), &json!(false)),
        "{good}"
    );
    assert_eq!(
        (&bad["status"], &bad["error_type"], &bad["error_msg"]),
        (&json!("error"), &json!("provision"), &json!("no image")),
        "{bad}"
    );
    set(
        json!([task("slow", json!(["controller"]), "hang", json!({}))]),
        json!({"on_stop": {"status": "discover"}}),
    )
    .await;
    site.deeds.take();
    let run = id(&site.execute(json!({})).await.expect(202));
    site.until_begun().await;
    assert_eq!(node(one).await["status"], "deploying");
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.ended(run).await;
    assert_eq!(node(one).await["status"], "discover");
    // A node can leave.
    let graph = json!([task("erase", json!(["controller"]), "true", json!({}))]);
    set(graph, json!({"on_success": {"status": "deleted"}})).await;
    site.deploy(json!({})).await;
    let left = node(one).await;
    assert_eq!((&left["cluster"], &left["roles"]), (&json!(null), &json!([])), "{left}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_fault_tolerance_is_configurable() {
    let tasks = json!([
        task("bad", json!(["controller"]), "fail", json!({})),
        task("good", json!(["compute"]), "true", json!({})),
    ]);
    let site = Site::new(&tasks).await;
    for (budget, status, told) in [
        (json!("1"), "ready", "1 node failed, which its group tolerates"),
        (json!(-1), "ready", "1 node failed"),
        (json!("50%"), "ready", "1 node failed"),
        (json!("10%"), "error", "Group `the whole run` tolerates 0 failed nodes"),
        (json!(null), "error", "Group `zero tolerance`"),
    ] {
        let run = site.deploy(json!({"fault_tolerance": budget, "force": true})).await;
        assert_eq!(run["status"], status, "{budget}: {run}");
        assert!(run["message"].as_str().unwrap().contains(told), "{budget}: {run}");
    }
    for wrong in [json!("some"), json!("2.5%"), json!(1.5), json!([1]), json!(true)] {
        let message = site.execute(json!({"fault_tolerance": wrong})).await.refused(400);
        assert!(message.contains("a number or a percentage"), "{wrong}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_plan_applies_start_one_run() {
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    let plan =
        id(&site.server.post(&format!("clusters/{}/plans", site.cluster), &json!({})).await.expect(201));
    let path = format!("plans/{plan}/apply");
    let body = json!({});
    let (a, b, c) = tokio::join!(
        site.server.post(&path, &body),
        site.server.post(&path, &body),
        site.server.post(&path, &body)
    );
    let mut statuses = [a.status, b.status, c.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409, 409]);
    let refused = site.server.post(&path, &json!({})).await.refused(409);
    assert!(refused.starts_with("Deployment already started"), "{refused}");
    site.server
        .put(&format!("clusters/{}/stop_deployment?now=1", site.cluster), &json!({}))
        .await
        .expect(202);
}
