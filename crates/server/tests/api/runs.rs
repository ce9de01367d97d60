//! Runs from the request to the history, with the real engine and in-process agents.

use std::time::Duration;

use serde_json::{Value, json};
use stoker_settings::{Runs, Server};

use crate::agent::{AttemptLog, install_agents};
use crate::beginnings::{create_cluster, create_node, id};
use crate::support::{Reply, TestServer};

/// A server with in-process agents and a cluster of two nodes: a controller and a compute node.
pub(crate) struct Site {
    pub(crate) server: TestServer,
    pub(crate) attempts: AttemptLog,
    pub(crate) cluster: i64,
    pub(crate) nodes: [i64; 2],
}

impl Site {
    pub(crate) async fn new(tasks: &Value) -> Self {
        Self::with_settings(tasks, Server::default()).await
    }

    pub(crate) async fn with_settings(tasks: &Value, settings: Server) -> Self {
        let runs = Runs { local_agents: true, ..settings.runs.clone() };
        let server = Box::pin(TestServer::with_settings(Server { runs, ..settings })).await;
        let attempts = install_agents(&server.app);
        server.app.start_background();
        let cluster = create_cluster(&server).await;
        let nodes = [create_node(&server, 1).await, create_node(&server, 2).await];
        let roles =
            json!([{"id": nodes[0], "roles": ["controller"]}, {"id": nodes[1], "roles": ["compute"]}]);
        server.post(&format!("clusters/{cluster}/assignment"), &roles).await.expect(200);
        let site = Self { server, attempts, cluster, nodes };
        site.upload("default", tasks).await;
        site
    }

    pub(crate) async fn upload(&self, graph_type: &str, tasks: &Value) {
        let path = format!("clusters/{}/deployment_tasks/?graph_type={graph_type}", self.cluster);
        self.server.put(&path, tasks).await.expect(200);
    }

    pub(crate) async fn execute(&self, extra: Value) -> Reply {
        let mut body = json!({"cluster": self.cluster, "graphs": [{"type": "default"}]});
        for (key, value) in extra.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.server.post("graphs/execute/", &body).await
    }

    /// Executes the default graph, waits for the end of the run and returns the run.
    pub(crate) async fn deploy(&self, extra: Value) -> Value {
        let run = id(&self.execute(extra).await.expect(202));
        self.wait_for_end(run).await
    }

    pub(crate) async fn wait_for_end(&self, run: i64) -> Value {
        self.wait_until(run, |run| run["status"] == "ready" || run["status"] == "error").await
    }

    pub(crate) async fn wait_until(&self, run: i64, condition: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..600 {
            let run_state = self.server.get(&format!("transactions/{run}")).await.expect(200);
            if condition(&run_state) {
                return run_state;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("run {run} did not reach the condition in time");
    }

    pub(crate) async fn history(&self, run: i64) -> Vec<(String, String, String)> {
        let records = self.server.get(&format!("transactions/{run}/deployment_history")).await.expect(200);
        let text = |record: &Value, key: &str| record[key].as_str().unwrap().to_owned();
        let mut rows: Vec<_> = records
            .as_array()
            .unwrap()
            .iter()
            .map(|record| (text(record, "task_name"), text(record, "node_id"), text(record, "status")))
            .collect();
        rows.sort();
        rows
    }

    pub(crate) async fn statuses(&self) -> Vec<String> {
        let nodes = self.server.get(&format!("nodes/?cluster_id={}", self.cluster)).await.expect(200);
        nodes.as_array().unwrap().iter().map(|node| node["status"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) async fn cluster_status(&self) -> String {
        let cluster = self.server.get(&format!("clusters/{}", self.cluster)).await.expect(200);
        cluster["status"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn task(name: &str, roles: Value, cmd: &str, more: Value) -> Value {
    let mut task = json!({
        "id": name, "type": "shell", "version": "2.0.0", "roles": roles,
        "parameters": {"cmd": cmd, "retries": 0, "timeout": 30},
    });
    for (key, value) in more.as_object().unwrap() {
        task[key] = value.clone();
    }
    task
}

fn two_tasks() -> Value {
    json!([
        task(
            "first",
            json!("*"),
            "true",
            json!({"condition": {"yaql_exp": "changed($.settings.common.debug.value)"}})
        ),
        task(
            "second",
            json!(["compute"]),
            "true",
            json!({
                "requires": ["first"], "cross-depends": [{"name": "first", "role": "controller"}],
                "condition": {"yaql_exp": "changed($.cluster.name)"},
            })
        ),
    ])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_run_executes_only_changed_tasks() {
    let site = Site::new(&two_tasks()).await;
    let [one, two] = site.nodes;
    let run = site.deploy(json!({})).await;
    assert_eq!((&run["status"], &run["progress"]), (&json!("ready"), &json!(100)), "{run}");
    let executed = site.attempts.take();
    assert_eq!(executed.len(), 3, "{executed:?}");
    assert_eq!(executed[2], format!("second@{two}"), "`second` depends on `first` on both nodes");
    assert_eq!(
        site.history(id(&run)).await,
        [
            ("first".to_owned(), one.to_string(), "ready".to_owned()),
            ("first".to_owned(), two.to_string(), "ready".to_owned()),
            ("second".to_owned(), two.to_string(), "ready".to_owned()),
        ]
    );
    assert_eq!(site.statuses().await, ["ready", "ready"]);
    assert_eq!(site.cluster_status().await, "operational");
    // Without changes, all tasks are skipped.
    let run = site.deploy(json!({})).await;
    assert_eq!(run["status"], "ready", "{run}");
    assert_eq!(site.attempts.take(), Vec::<String>::new());
    let skipped = site.history(id(&run)).await;
    assert!(skipped.iter().all(|(_, _, status)| status == "skipped"), "{skipped:?}");
    assert_eq!(skipped.len(), 3);
    // After a change of one setting, only the task that reads it runs.
    let settings = json!({"editable": {"common": {"debug": {"value": true}}}});
    site.server.put(&format!("clusters/{}/attributes", site.cluster), &settings).await.expect(200);
    site.deploy(json!({})).await;
    let mut executed = site.attempts.take();
    executed.sort();
    assert_eq!(executed, [format!("first@{one}"), format!("first@{two}")]);
    // `force` runs all tasks.
    site.deploy(json!({"force": true})).await;
    assert_eq!(site.attempts.take().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_contains_all_task_fields() {
    let more = json!({
        "requires": ["one"], "required_for": ["two"], "cross-depends": [{"name": "one"}],
        "condition": {"yaql_exp": "changed($.cluster.name)"}, "mine": {"password": "hunter2hunter2", "kept": 1},
        "parameters": {"cmd": {"yaql_exp": "concat(tr, ue)"}, "retries": 0, "timeout": 30},
    });
    let tasks = json!([
        task("one", json!("*"), "true", json!({})),
        task("full", json!(["compute"]), "", more),
        task("two", json!(["compute"]), "true", json!({})),
        task("nowhere", json!(["nobody-has-it"]), "true", json!({"tags": ["n"]})),
    ]);
    let site = Site::new(&tasks).await;
    for (status, cmd) in [("ready", json!("true")), ("skipped", json!({"yaql_exp": "concat(tr, ue)"}))] {
        let run = id(&site.deploy(json!({})).await);
        let path = format!("transactions/{run}/deployment_history?tasks_names=full,nowhere");
        let records = site.server.get(&path).await.expect(200);
        let record_of =
            |name: &str| records.as_array().unwrap().iter().find(|row| row["task_name"] == name).unwrap();
        let full = record_of("full");
        assert_eq!((&full["status"], &full["parameters"]["cmd"]), (&json!(status), &cmd), "{full}");
        for (field, value) in [
            ("type", json!("shell")),
            ("version", json!("2.0.0")),
            ("role", json!(["compute"])),
            ("roles", json!(["compute"])),
            ("requires", json!(["one"])),
            ("required_for", json!(["two"])),
            ("cross-depends", json!([{"name": "one"}])),
            ("cross_depends", json!([{"name": "one"}])),
            ("condition", json!({"yaql_exp": "changed($.cluster.name)"})),
            ("mine", json!({"password": "(secret)", "kept": 1})),
        ] {
            assert_eq!(full[field], value, "{field} of {full}");
        }
        assert!(full.get("id").is_none(), "{full}");
        let nowhere = record_of("nowhere");
        assert_eq!((&nowhere["node_id"], &nowhere["status"]), (&json!("-"), &json!("skipped")));
        assert_eq!((&nowhere["tags"], &nowhere["roles"]), (&json!(["n"]), &json!(["nobody-has-it"])));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spawn_vms_runs_its_graph() {
    let site = Site::new(&two_tasks()).await;
    let path = format!("clusters/{}/spawn_vms/", site.cluster);
    let message = site.server.put(&path, &json!({})).await.expect_error(400);
    assert!(message.starts_with("There are no deployment tasks for graph type 'spawn_vms'."), "{message}");
    site.server.put("clusters/99/spawn_vms", &json!({})).await.expect_error(404);
    site.upload("spawn_vms", &json!([task("machine", json!(["compute"]), "true", json!({}))])).await;
    site.server.put(&format!("{path}?nodes=77"), &json!({})).await.expect_error(404);
    let run = site.server.put(&path, &json!({})).await.expect(202);
    assert_eq!(run["name"], "spawn_vms");
    assert_eq!(site.wait_for_end(id(&run)).await["status"], "ready");
    assert_eq!(site.attempts.entries(), [format!("machine@{}", site.nodes[1])]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failure_is_reported_and_blocks_dependents() {
    let tasks = json!([
        task("bad", json!(["controller"]), "fail", json!({})),
        task(
            "after",
            json!(["compute"]),
            "true",
            json!({"cross-depends": [{"name": "bad", "role": "controller"}]})
        ),
        task("unrelated", json!(["compute"]), "true", json!({})),
    ]);
    let site = Site::new(&tasks).await;
    let [one, two] = site.nodes;
    let run = site.deploy(json!({})).await;
    assert_eq!(run["status"], "error", "{run}");
    assert!(run["message"].as_str().unwrap().contains("zero tolerance"), "{run}");
    let history = site.server.get(&format!("transactions/{}/deployment_history", id(&run))).await.expect(200);
    let record_of =
        |name: &str| history.as_array().unwrap().iter().find(|row| row["task_name"] == name).unwrap().clone();
    assert_eq!(record_of("bad")["status"], "error");
    assert_eq!(record_of("bad")["reason"], "exit code 1");
    assert_eq!(record_of("after")["status"], "skipped");
    assert!(
        record_of("after")["reason"].as_str().unwrap().contains(&format!("bad@{one}")),
        "{}",
        record_of("after")
    );
    let node = site.server.get(&format!("nodes/{one}")).await.expect(200);
    assert_eq!((&node["status"], &node["error_type"]), (&json!("error"), &json!("deploy")));
    assert!(site.cluster_status().await == "partially_deployed");
    assert!(!site.attempts.entries().contains(&format!("after@{two}")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn busy_cluster_refuses_second_run_and_stop_ends_the_first() {
    let tasks = json!([
        task("slow", json!(["controller"]), "hang", json!({})),
        task("later", json!(["controller"]), "true", json!({"requires": ["slow"]})),
    ]);
    let site = Site::new(&tasks).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    let error = site.execute(json!({})).await.expect_error(409);
    assert!(error.starts_with("Deployment already started"), "{error}");
    site.wait_until_started().await;
    site.server
        .put(&format!("clusters/{}/stop_deployment?now=1", site.cluster), &json!({}))
        .await
        .expect(202);
    let ended = site.wait_for_end(run).await;
    assert_eq!((&ended["status"], &ended["message"]), (&json!("error"), &json!("the run was stopped")));
    assert_eq!(site.cluster_status().await, "stopped");
    let idle = site.server.put(&format!("clusters/{}/stop_deployment", site.cluster), &json!({})).await;
    assert!(idle.expect_error(400).starts_with("nothing to stop"));
    // The cluster can be deployed again after the stop.
    let tasks = json!([
        task("slow", json!(["controller"]), "true", json!({})),
        task("later", json!(["controller"]), "true", json!({"requires": ["slow"]})),
    ]);
    site.upload("default", &tasks).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
}

impl Site {
    pub(crate) async fn wait_until_started(&self) {
        for _ in 0..400 {
            if !self.attempts.entries().is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("no attempt started in time");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_pause_and_resume_are_refused() {
    let tasks = json!([
        task(
            "slow",
            json!(["controller"]),
            "hang",
            json!({"parameters": {"cmd": "hang", "timeout": 1, "retries": 0}})
        ),
        task("other", json!(["compute"]), "true", json!({"condition": true})),
    ]);
    let site = Site::new(&tasks).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    site.wait_until_started().await;
    site.server.post(&format!("runs/{run}/pause"), &Value::Null).await.expect(202);
    site.server.post(&format!("runs/{run}/pause"), &Value::Null).await.expect_error(409);
    site.server.post(&format!("runs/{run}/resume"), &Value::Null).await.expect(202);
    site.server.post(&format!("runs/{run}/resume"), &Value::Null).await.expect_error(409);
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.wait_for_end(run).await;
    site.server.post(&format!("runs/{run}/stop"), &json!({})).await.expect_error(409);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retry_reruns_failed_tasks_of_the_same_plan() {
    let tasks = json!([
        task("good", json!(["controller"]), "true", json!({})),
        task("bad", json!(["controller"]), "fail", json!({"requires": ["good"]})),
        task("last", json!(["controller"]), "true", json!({"requires": ["bad"]})),
    ]);
    let site = Site::new(&tasks).await;
    let run = site.deploy(json!({})).await;
    assert_eq!(run["status"], "error");
    assert_eq!(site.attempts.take().len(), 2);
    let retried = id(&site.server.post(&format!("runs/{}/retry", id(&run)), &Value::Null).await.expect(202));
    let retried = site.wait_for_end(retried).await;
    assert_eq!(retried["status"], "error", "the same plan fails again");
    assert_eq!(site.attempts.take(), [format!("bad@{}", site.nodes[0])], "successful tasks are not repeated");
    let retried_run = site.server.get(&format!("runs/{}", id(&retried))).await.expect(200);
    let first_run = site.server.get(&format!("runs/{}", id(&run))).await.expect(200);
    assert_eq!(retried_run["parts"][0]["plan_id"], first_run["parts"][0]["plan_id"]);
    // After its deletion, the outcomes of the first run are unknown.
    site.server.delete(&format!("transactions/{}", id(&run))).await.expect(204);
    let retried =
        id(&site.server.post(&format!("runs/{}/retry", id(&retried)), &Value::Null).await.expect(202));
    let message = site.wait_for_end(retried).await["message"].to_string();
    assert!(message.contains("was deleted"), "{message}");
    assert_eq!(site.attempts.take(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dry_run_plans_without_executing() {
    let site = Site::new(&two_tasks()).await;
    let run = site.deploy(json!({"dry_run": true})).await;
    assert_eq!((&run["status"], &run["dry_run"]), (&json!("ready"), &json!(true)));
    assert_eq!(site.attempts.take(), Vec::<String>::new());
    assert_eq!(site.statuses().await, ["discover", "discover"]);
    assert_eq!(site.cluster_status().await, "new");
    let parent = site.server.get(&format!("runs/{}", id(&run))).await.expect(200);
    let plan = parent["parts"][0]["plan_id"].as_i64().unwrap();
    // The plan of the dry run can be applied.
    site.server.post(&format!("plans/{plan}/apply"), &json!({"force": true})).await.expect_error(400);
    let applied = id(&site.server.post(&format!("plans/{plan}/apply"), &json!({})).await.expect(202));
    assert_eq!(site.wait_for_end(applied).await["status"], "ready");
    assert_eq!(site.attempts.take().len(), 3);
    // An applied plan is stale because the run changed the cluster.
    let error = site.server.post(&format!("plans/{plan}/apply"), &json!({})).await.expect_error(409);
    assert!(error.contains("out of date"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn graphs_run_in_order_until_one_fails() {
    let site = Site::new(&json!([task("one", json!(["controller"]), "true", json!({}))])).await;
    site.upload("second", &json!([task("two", json!(["controller"]), "fail", json!({}))])).await;
    site.upload("third", &json!([task("three", json!(["controller"]), "true", json!({}))])).await;
    let graphs = json!([{"type": "default"}, {"type": "second"}, {"type": "third"}]);
    let run = site.deploy(json!({"graphs": graphs})).await;
    assert_eq!(run["status"], "error");
    let node = site.nodes[0];
    assert_eq!(site.attempts.take(), [format!("one@{node}"), format!("two@{node}")]);
    let parent = site.server.get(&format!("runs/{}", id(&run))).await.expect(200);
    let statuses: Vec<&str> = parent["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|child| child["run"]["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["ready", "error", "error"]);
    assert_eq!(parent["parts"][2]["run"]["message"], "Aborted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_numbered_and_output_is_searchable() {
    let site = Site::new(&json!([task("hello", json!(["controller"]), "world", json!({}))])).await;
    let run = site.deploy(json!({})).await;
    let events = site.server.get(&format!("runs/{}/events", id(&run))).await.expect(200);
    let events = events.as_array().unwrap().clone();
    let numbers: Vec<i64> = events.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>());
    assert_eq!((&events[0]["kind"], &events[events.len() - 1]["kind"]), (&json!("began"), &json!("ended")));
    let later = site.server.get(&format!("runs/{}/events?after=2&limit=1", id(&run))).await.expect(200);
    assert_eq!(later, json!([events[2]]));
    let request = site.server.request("GET", &format!("runs/{}/events?after=1", id(&run)));
    let request = request.header("accept", "text/event-stream").body(axum::body::Body::empty()).unwrap();
    let stream = site.server.send(request).await.expect(200);
    let text = stream.as_str().unwrap();
    assert_eq!(
        text.matches("\nid: ").count() + usize::from(text.starts_with("id: ")),
        events.len() - 1,
        "{text}"
    );
    let path = format!("runs/{}/output?search=world", id(&run));
    for _ in 0..100 {
        let output = site.server.get(&path).await.expect(200);
        if output != json!([]) {
            assert_eq!(output[0]["text"], "hello says world\n");
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let path = format!("runs/{}/output?task=hello&node={}", id(&run), site.nodes[0]);
    assert_eq!(site.server.get(&path).await.expect(200)[0]["stream"], "out");
    site.server.get(&format!("runs/{}/output", id(&run))).await.expect_error(400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_execute_request_is_refused() {
    let site = Site::new(&two_tasks()).await;
    let execute = async |body: Value| site.server.post("graphs/execute/", &body).await;
    let cluster = site.cluster;
    execute(json!({"cluster": 99, "graphs": [{"type": "default"}]})).await.expect_error(404);
    execute(json!({"cluster": cluster, "graphs": []})).await.expect_error(400);
    execute(json!({"cluster": cluster})).await.expect_error(400);
    execute(json!({"cluster": cluster, "graphs": [{"type": "default"}], "speed": 1})).await.expect_error(400);
    let error = execute(json!({"cluster": cluster, "graphs": [{"type": "nobody"}]})).await.expect_error(400);
    assert!(error.starts_with("There are no deployment tasks for graph type 'nobody'"), "{error}");
    let foreign = json!({"cluster": cluster, "graphs": [{"type": "default", "nodes": [77]}]});
    assert_eq!(execute(foreign).await.expect_error(400), "Nodes 77 do not belong to cluster 1");
    let unknown = json!({"cluster": cluster, "graphs": [{"type": "default", "tasks": ["nothing"]}]});
    execute(unknown).await.expect_error(400);
    let graphs = json!([{"type": "default"}]);
    for ends in [json!({"start": ["nothing/1"]}), json!({"start": [null], "end": ["nothing"]})] {
        let body = json!({"cluster": cluster, "graphs": graphs, "subgraphs": [ends]});
        assert!(execute(body).await.expect_error(400).contains("nothing"));
    }
    let deploy = async |query: &str| {
        let path = format!("clusters/{cluster}/deploy/?nodes={query}");
        site.server.put(&path, &json!({})).await
    };
    assert_eq!(deploy("77").await.expect_error(404), "NodeCollection not found");
    assert_eq!(site.server.get("transactions/").await.expect(200), json!([]));
}
