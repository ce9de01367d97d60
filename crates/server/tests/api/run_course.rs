//! Stopping, pausing and retrying runs of one or several graphs, and the resulting statuses.

use std::time::Duration;

use serde_json::{Value, json};
use stoker_model::NodeId;

use crate::beginnings::id;
use crate::fixtures::{begin_write, commit};
use crate::runs::{Site, task};

/// Starts a run of two graphs; the only task of the first takes 600 ms and is running on return.
async fn start_two_graphs() -> (Site, i64) {
    let site = Site::new(&json!([task("one", json!(["controller"]), "take a moment", json!({}))])).await;
    site.upload("second", &json!([task("two", json!(["controller"]), "true", json!({}))])).await;
    let graphs = json!({"graphs": [{"type": "default"}, {"type": "second"}]});
    let run = id(&site.execute(graphs).await.expect(202));
    site.wait_until_started().await;
    (site, run)
}

impl Site {
    async fn child_runs(&self, run: i64) -> Vec<Value> {
        let parent = self.server.get(&format!("runs/{run}")).await.expect(200);
        parent["parts"].as_array().unwrap().clone()
    }

    async fn wait_until_children(&self, run: i64, condition: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        for _ in 0..400 {
            let children = self.child_runs(run).await;
            if condition(&children) {
                return children;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!(
            "the child runs of run {run} did not reach the condition in time: {:?}",
            self.child_runs(run).await
        );
    }

    async fn retry(&self, run: i64, body: &Value) -> Value {
        let retried = id(&self.server.post(&format!("runs/{run}/retry"), body).await.expect(202));
        self.wait_for_end(retried).await
    }
}

/// Regression test: the predecessor started the next graph of a sequence after a stop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_during_last_task_prevents_the_next_graph() {
    let (site, run) = start_two_graphs().await;
    site.server.post(&format!("runs/{run}/stop"), &json!({})).await.expect(202);
    let ended = site.wait_for_end(run).await;
    assert_eq!(
        (&ended["status"], &ended["message"], &ended["stopped"]),
        (&json!("error"), &json!("the run was stopped"), &json!(true)),
        "{ended}"
    );
    assert_eq!(site.attempts.take(), [format!("one@{}", site.nodes[0])]);
    let children = site.child_runs(run).await;
    assert_eq!(
        (&children[0]["run"]["status"], &children[0]["run"]["stopped"]),
        (&json!("ready"), &json!(false))
    );
    assert_eq!(
        (&children[1]["run"]["status"], &children[1]["run"]["stopped"]),
        (&json!("error"), &json!(true))
    );
    assert_eq!(children[1]["plan_id"], json!(null), "the second graph was not planned");
    assert_eq!(site.cluster_status().await, "stopped");
    // A retry runs the graphs that did not start.
    assert_eq!(site.retry(run, &Value::Null).await["status"], "ready");
    assert_eq!(site.attempts.take(), [format!("two@{}", site.nodes[0])]);
    assert_eq!(site.cluster_status().await, "partially_deployed", "the other node was never deployed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pause_applies_to_following_graphs() {
    let (site, run) = start_two_graphs().await;
    site.server.post(&format!("runs/{run}/pause"), &Value::Null).await.expect(202);
    let children = site.wait_until_children(run, |children| children[1]["is_paused"] == true).await;
    assert_eq!((&children[0]["run"]["status"], &children[0]["is_paused"]), (&json!("ready"), &json!(false)));
    assert_eq!(children[1]["run"]["status"], "running");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(site.attempts.take(), [format!("one@{}", site.nodes[0])]);
    site.server.post(&format!("runs/{run}/pause"), &Value::Null).await.expect_error(409);
    site.server.post(&format!("runs/{run}/resume"), &Value::Null).await.expect(202);
    assert_eq!(site.wait_for_end(run).await["status"], "ready");
    assert_eq!(site.attempts.take(), [format!("two@{}", site.nodes[0])]);
    let ended = site.server.post(&format!("runs/{run}/pause"), &Value::Null).await.expect_error(409);
    assert_eq!(ended, format!("run {run} has ended"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_ends_the_pause() {
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    site.wait_until_started().await;
    site.server.post(&format!("runs/{run}/pause"), &Value::Null).await.expect(202);
    assert_eq!(site.child_runs(run).await[0]["is_paused"], true);
    site.server.post(&format!("runs/{run}/stop"), &json!({})).await.expect(202);
    assert_eq!(site.child_runs(run).await[0]["is_paused"], false);
    site.server.post(&format!("runs/{run}/resume"), &Value::Null).await.expect_error(409);
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.wait_for_end(run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_noop_run_does_not_change_statuses() {
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    let run = id(&site.execute(json!({"noop_run": true})).await.expect(202));
    site.wait_until_started().await;
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    let ended = site.wait_for_end(run).await;
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
    site.attempts.take();
    let retried = site.retry(id(&run), &Value::Null).await;
    assert_eq!(retried["status"], "ready");
    assert_eq!(site.attempts.take(), [format!("bad@{}", site.nodes[1])]);
    // After a failure with `fail_on_error: false`, no task remains to be retried.
    let harmless = json!({"fail_on_error": false});
    let tasks = json!([
        task("bad", json!(["compute"]), "fail", harmless),
        task("good", json!("*"), "true", json!({}))
    ]);
    site.upload("default", &tasks).await;
    let run = id(&site.deploy(json!({})).await);
    let error = site.server.post(&format!("runs/{run}/retry"), &Value::Null).await.expect_error(409);
    assert_eq!(error, format!("nothing to retry: run {run} has no unfinished task instances"));
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
    assert_eq!(site.attempts.take().len(), 4);
    let path = format!("runs/{run}/retry");
    for (body, expected) in [
        (json!({"from": ["nothing"]}), "contains `nothing`"),
        (json!({"from": ["then", format!("then/{two}")]}), "no plan of run"),
        (json!({"from": []}), "list at least one task"),
        (json!({"from": "then"}), "must be a list"),
        (json!({"since": ["then"]}), "unknown key"),
        (json!(["then"]), "must be a map"),
    ] {
        let message = site.server.post(&path, &body).await.expect_error(400);
        assert!(message.contains(expected), "{body}: {message}");
    }
    assert_eq!(site.attempts.take(), Vec::<String>::new());
    // The named task and its dependents run again, even if they succeeded.
    let retried = site.retry(run, &json!({"from": ["then"]})).await;
    assert_eq!(retried["status"], "error", "the same plan fails again");
    assert_eq!(site.attempts.take(), [format!("then@{one}"), format!("bad@{one}")]);
    let children = site.child_runs(id(&retried)).await;
    assert_eq!(children[0]["plan_id"], site.child_runs(run).await[0]["plan_id"]);
    // A retry of that run is limited to its part of the plan.
    site.retry(id(&retried), &Value::Null).await;
    assert_eq!(site.attempts.take(), [format!("bad@{one}")]);
    site.retry(run, &json!({"from": [format!("first/{two}")]})).await;
    assert_eq!(site.attempts.take(), [format!("first@{two}")], "no instance on the other node depends on it");
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
    site.attempts.take();
    let retried = site.retry(run, &json!({"from": ["two"]})).await;
    let types: Vec<Value> =
        site.child_runs(id(&retried)).await.iter().map(|child| child["run"]["graph_type"].clone()).collect();
    assert_eq!(types, ["second", "third"]);
    let node = site.nodes[0];
    assert_eq!(site.attempts.take(), [format!("two@{node}"), format!("bad@{node}")]);
}

/// A partial run does not change the status of nodes without instances in it.
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
    assert_eq!(site.statuses().await, ["ready", "discover"], "the other node had no attempts");
    let run = id(&site.deploy(json!({"force": true})).await);
    assert_eq!(site.statuses().await, ["ready", "error"]);
    site.deploy(json!({"graphs": [good], "force": true})).await;
    site.deploy(json!({"subgraphs": [{"start": ["good"]}], "force": true})).await;
    site.retry(run, &json!({"from": ["good"]})).await;
    assert_eq!(site.statuses().await, ["ready", "error"], "the failed task was not retried");
    assert_eq!(site.cluster_status().await, "partially_deployed");
    site.retry(run, &json!({"from": ["bad"]})).await;
    assert_eq!(site.statuses().await, ["ready", "error"]);
    // A full run without work on a failed node sets it to `ready`.
    let other = json!({"type": "skipped", "id": "bad", "version": "2.0.0", "roles": ["compute"]});
    site.upload("default", &json!([tasks[1], other])).await;
    site.deploy(json!({})).await;
    assert_eq!(site.statuses().await, ["ready", "ready"]);
}

/// Offline nodes are excluded from a run, and its message names them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn offline_nodes_are_named_in_the_run_message() {
    let site = Site::new(&json!([task("all", json!("*"), "true", json!({}))])).await;
    let [one, two] = site.nodes;
    let mut transaction = begin_write(&site.server).await;
    let mut node = transaction.node_get(NodeId(two)).await.unwrap().unwrap();
    node.online = false;
    transaction.node_update(&node).await.unwrap();
    commit(transaction).await;
    let expected = json!(format!("Node {two} is offline and was left out of the run"));
    for extra in [json!({"dry_run": true}), json!({"noop_run": true})] {
        let run = site.deploy(extra).await;
        assert_eq!((&run["status"], &run["message"]), (&json!("ready"), &expected));
        assert_eq!(run["outcome"], "succeeded");
    }
    site.attempts.take();
    for extra in [json!({}), json!({"graphs": [{"type": "default", "nodes": [two]}]})] {
        let run = site.deploy(extra).await;
        assert_eq!((&run["status"], &run["message"]), (&json!("error"), &expected));
        assert_eq!(run["outcome"], "partial");
        assert_eq!(site.cluster_status().await, "partially_deployed");
    }
    let news = site.server.get("notifications?topic=run.partial").await.expect(200);
    assert_eq!(news.as_array().unwrap().len(), 2);
    // A partial run is no failure: there is nothing to retry, and the next graph runs.
    let run = id(&site.deploy(json!({})).await);
    let retried = site.server.post(&format!("runs/{run}/retry"), &json!({})).await.expect_error(409);
    assert!(retried.contains("nothing to retry"), "{retried}");
    site.upload("second", &json!([task("two", json!(["controller"]), "true", json!({}))])).await;
    site.attempts.take();
    let run = site.deploy(json!({"graphs": [{"type": "default"}, {"type": "second"}]})).await;
    assert_eq!((&run["outcome"], &run["message"]), (&json!("partial"), &expected));
    assert_eq!(site.attempts.take(), [format!("all@{one}"), format!("two@{one}")]);
    let run = site.deploy(json!({"graphs": [{"type": "default", "nodes": [one]}]})).await;
    assert_eq!(
        (&run["message"], &run["outcome"]),
        (&json!(null), &json!("succeeded")),
        "the offline node was not requested"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subgraph_without_matching_instance_fails_the_run() {
    let site = Site::new(&json!([task("all", json!(["controller"]), "true", json!({}))])).await;
    let reference = format!("all/{}", site.nodes[1]);
    let run = site.deploy(json!({"subgraphs": [{"start": [reference]}]})).await;
    assert_eq!(run["status"], "error", "{run}");
    assert!(run["message"].as_str().unwrap().contains(&format!("subgraph start `{reference}`")), "{run}");
    assert_eq!(site.attempts.take(), Vec::<String>::new());
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
        assert_eq!(site.wait_for_end(run).await["status"], "ready");
        let mut attempts = site.attempts.take();
        attempts.sort();
        attempts
    };
    assert_eq!(changes(&format!("?nodes={two}")).await, [format!("one@{two}")]);
    assert_eq!(changes(&format!("?nodes={one}")).await, [format!("one@{one}"), format!("two@{one}")]);
    assert_eq!(changes("").await.len(), 3);
    let path = format!("clusters/{}/changes?nodes=99", site.cluster);
    site.server.put(&path, &json!({})).await.expect_error(400);
}

/// Expressions treat `1`, `1.0` and `true` as equal, but rendered task parameters differ.
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
        let error = site.server.post(&format!("plans/{plan}/apply"), &json!({})).await.expect_error(409);
        assert!(error.contains("out of date") && error.contains("the setting `"), "{error}");
    }
    set(json!(1)).await;
    let run = id(&site.server.post(&format!("plans/{plan}/apply"), &json!({})).await.expect(202));
    assert_eq!(site.wait_for_end(run).await["status"], "ready");
}

/// Parameters are validated before the first attempt is dispatched.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_parameters_fail_the_run_before_dispatch() {
    let without_command = |name: &str, more: Value| {
        let mut task = task(name, json!(["compute"]), "", more);
        task["parameters"] = json!({"cmd": {"yaql_exp": "null"}});
        task
    };
    let good = task("good", json!(["controller"]), "true", json!({}));
    let site = Site::new(&json!([
        good.clone(),
        without_command("one", json!({})),
        without_command("two", json!({}))
    ]))
    .await;
    let path = format!("clusters/{}/plans", site.cluster);
    let plan = id(&site.server.post(&path, &json!({})).await.expect(201));
    let plan_view = site.server.get(&format!("plans/{plan}")).await.expect(200);
    let codes: Vec<&Value> =
        plan_view["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
    assert_eq!(codes, ["plan-parameters", "plan-parameters"], "{plan_view}");
    let run = site.deploy(json!({})).await;
    assert_eq!(
        (&run["status"], &run["message"]),
        (
            &json!("error"),
            &json!(
                "cannot run the plan: task `one`: Missing a required parameter cmd; \
                 task `two`: Missing a required parameter cmd"
            )
        )
    );
    assert_eq!(site.attempts.take(), Vec::<String>::new());
    // With `fail_on_error: false`, invalid parameters are an ordinary task failure.
    site.upload("default", &json!([good, without_command("one", json!({"fail_on_error": false}))])).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    // Invalid `retries` and `timeout` values prevent planning.
    let mut slow = task("slow", json!("*"), "true", json!({}));
    slow["parameters"]["timeout"] = json!({"yaql_exp": "-1"});
    slow["parameters"]["retries"] = json!("often");
    site.upload("default", &json!([slow])).await;
    let error = site.server.post(&path, &json!({})).await.expect(400);
    let paths: Vec<&Value> = error["errors"].as_array().unwrap().iter().map(|error| &error["path"]).collect();
    assert_eq!(paths, ["tasks.slow.parameters.retries", "tasks.slow.parameters.timeout"], "{error}");
}

/// A graph sets node attributes for each outcome: `on_success`, `on_error`, `on_stop`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn graph_node_attributes_are_applied_per_outcome() {
    let site = Site::new(&json!([])).await;
    let [one, two] = site.nodes;
    let set = async |tasks: Value, outcomes: Value| {
        let mut graph = json!({"tasks": tasks});
        for (key, attributes) in outcomes.as_object().unwrap() {
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
    let outcomes = json!({
        "on_success": {"status": "provisioned", "pending_addition": false},
        "on_error": {"status": "error", "error_type": "provision", "error_msg": "no image"},
    });
    set(tasks, outcomes).await;
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
    site.attempts.take();
    let run = id(&site.execute(json!({})).await.expect(202));
    site.wait_until_started().await;
    assert_eq!(node(one).await["status"], "deploying");
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.wait_for_end(run).await;
    assert_eq!(node(one).await["status"], "discover");
    // The status `deleted` removes the node from the cluster.
    let graph = json!([task("erase", json!(["controller"]), "true", json!({}))]);
    set(graph, json!({"on_success": {"status": "deleted"}})).await;
    site.deploy(json!({})).await;
    let removed = node(one).await;
    assert_eq!((&removed["cluster"], &removed["roles"]), (&json!(null), &json!([])), "{removed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_fault_tolerance_is_configurable() {
    let tasks = json!([
        task("bad", json!(["controller"]), "fail", json!({})),
        task("good", json!(["compute"]), "true", json!({})),
    ]);
    let site = Site::new(&tasks).await;
    for (budget, status, expected) in [
        (json!("1"), "ready", "1 node failed, which its group tolerates"),
        (json!(-1), "ready", "1 node failed"),
        (json!("50%"), "ready", "1 node failed"),
        (json!("10%"), "error", "group `the whole run` tolerates 0 failed nodes"),
        (json!(null), "error", "group `zero tolerance`"),
    ] {
        let run = site.deploy(json!({"fault_tolerance": budget, "force": true})).await;
        assert_eq!(run["status"], status, "{budget}: {run}");
        assert!(run["message"].as_str().unwrap().contains(expected), "{budget}: {run}");
    }
    for value in [json!("some"), json!("2.5%"), json!(1.5), json!([1]), json!(true)] {
        let message = site.execute(json!({"fault_tolerance": value})).await.expect_error(400);
        assert!(message.contains("a number or a percentage"), "{value}: {message}");
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
    let error = site.server.post(&path, &json!({})).await.expect_error(409);
    assert!(error.starts_with("Deployment already started"), "{error}");
    site.server
        .put(&format!("clusters/{}/stop_deployment?now=1", site.cluster), &json!({}))
        .await
        .expect(202);
}
