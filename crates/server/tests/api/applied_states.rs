//! Applied states after runs: which attempts leave a node in doubt, and what the next plan makes of it.

use serde_json::{Value, json};
use stoker_model::{
    Actor, AppliedMark, AppliedSuccess, AuditChange, ClusterId, DocumentId, GraphType, Micros, PlanId, RunId,
    TaintCause,
};

use crate::beginnings::id;
use crate::runs::{Site, task};

/// Fails while the setting `debug` is on, after it has changed the machine.
fn title() -> Value {
    task(
        "title",
        json!("*"),
        "",
        json!({
            "condition": {"yaql_exp": "changed($.settings.common.debug.value)"},
            "parameters": {
                "cmd": {"yaql_exp": "switch($.settings.common.debug.value => fail, true => write)"},
                "retries": 0, "timeout": 30,
            },
        }),
    )
}

impl Site {
    pub(crate) async fn set_debug(&self, value: bool) {
        let settings = json!({"editable": {"common": {"debug": {"value": value}}}});
        self.server.put(&format!("clusters/{}/attributes", self.cluster), &settings).await.expect(200);
    }

    /// Instances that a new plan runs, as `task@node`.
    pub(crate) async fn planned(&self, request: Value) -> Vec<String> {
        let plan = self.server.post(&format!("clusters/{}/plans", self.cluster), &request).await.expect(201);
        self.running(&plan["id"]).await
    }

    /// Instances that a plan runs, as `task@node`.
    async fn running(&self, plan: &Value) -> Vec<String> {
        let path = format!("plans/{plan}/instances?action=run");
        let instances = self.server.get(&path).await.expect(200);
        let name = |instance: &Value| {
            format!("{}@{}", instance["task"].as_str().unwrap(), instance["node"].as_str().unwrap())
        };
        let mut names: Vec<String> = instances.as_array().unwrap().iter().map(name).collect();
        names.sort();
        names
    }

    /// Taints of a task on the nodes of the site.
    async fn taints(&self, task: &str) -> Vec<Option<TaintCause>> {
        let nodes = self.nodes.map(|node| node.to_string());
        let mut session = self.server.app.store.read().await.unwrap();
        let graph_type = GraphType::new("default").unwrap();
        let mut taints = Vec::new();
        for uid in &nodes {
            let groups = session
                .applied_groups(ClusterId(self.cluster), &graph_type, &[task], &[uid.as_str()])
                .await
                .unwrap();
            taints.extend(groups.into_iter().map(|group| group.taint));
        }
        taints
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reverting_after_a_failure_runs_the_task_again() {
    let site = Site::new(&json!([title()])).await;
    let both = site.nodes.map(|node| format!("title@{node}"));
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    site.set_debug(true).await;
    assert_eq!(site.deploy(json!({})).await["status"], "error");
    assert_eq!(site.taints("title").await, [Some(TaintCause::Failed); 2]);
    site.set_debug(false).await;
    assert_eq!(site.planned(json!({})).await, both, "the nodes hold the result of the failed attempt");
    site.attempts.take();
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    assert_eq!(site.attempts.take().len(), 2);
    assert_eq!(site.taints("title").await, [None; 2]);
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn success_in_another_graph_type_does_not_count() {
    let site = Site::new(&json!([task(
        "title",
        json!("*"),
        "write",
        json!({"condition": {"yaql_exp": "changed($.settings.common.debug.value)"}}),
    )]))
    .await;
    site.upload("once", &json!([task("title", json!("*"), "write something else", json!({}))])).await;
    site.deploy(json!({})).await;
    site.set_debug(true).await;
    let once = json!({"graphs": [{"type": "once"}]});
    assert_eq!(site.deploy(once).await["status"], "ready");
    let both = site.nodes.map(|node| format!("title@{node}"));
    assert_eq!(site.planned(json!({})).await, both, "the change is still pending in the default graph");
    site.deploy(json!({})).await;
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
}

/// Successes of earlier versions have no definition.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_notes_that_edits_of_unknown_definitions_are_not_noticed() {
    let site = Site::new(&json!([title()])).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    let plan = async || {
        let plan =
            site.server.post(&format!("clusters/{}/plans", site.cluster), &json!({})).await.expect(201);
        site.server.get(&format!("plans/{}", plan["id"])).await.expect(200)
    };
    let known = plan().await;
    assert_eq!(known["notes"], json!([]));
    let (cluster, graph_type) = (ClusterId(site.cluster), GraphType::new("default").unwrap());
    let mut writing = site.server.app.store.begin_write(&Actor::server(), Micros(1)).await.unwrap();
    let plan_id = PlanId(id(&known));
    let common = writing.plan_snapshot(plan_id).await.unwrap().unwrap().common_id;
    let snapshot = writing.plan_snapshot_put(plan_id, common, DocumentId(0), None, None).await.unwrap();
    let uids = site.nodes.map(|node| node.to_string());
    let uids = uids.each_ref().map(String::as_str);
    for group in writing.applied_groups(cluster, &graph_type, &["title"], &uids).await.unwrap() {
        let (node_uid, task_name) = (group.node_uid, "title".to_owned());
        let cause = TaintCause::InFlight;
        let mark = AppliedMark { node_uid: node_uid.clone(), task_name: task_name.clone(), cause };
        writing.applied_mark(cluster, &graph_type, RunId(1), &[mark]).await.unwrap();
        let document_id = group.document_id.unwrap();
        let success = AppliedSuccess { node_uid, task_name, document_id, inputs: None, inputs_id: None };
        writing.applied_put(cluster, &graph_type, RunId(1), snapshot, &[success]).await.unwrap();
    }
    let change = AuditChange { action: "test", target: "test".to_owned(), detail: json!({}) };
    writing.commit(change).await.unwrap();
    let noted = plan().await;
    assert_eq!((&noted["n_run"], &noted["warnings"]), (&json!(0), &json!([])), "{noted}");
    assert_eq!(noted["notes"].as_array().unwrap().len(), 1, "{noted}");
    assert_eq!(noted["notes"][0]["code"], "plan-definition-unknown");
    assert_eq!(site.deploy(json!({"force": true})).await["status"], "ready");
    assert_eq!(plan().await["notes"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_end_but_success_taints_the_applied_state() {
    let condition = json!({"condition": {"yaql_exp": "changed($.settings.common.debug.value)"}});
    let with = |cmd: &str, more: Value| {
        let mut all = condition.clone();
        for (key, value) in more.as_object().unwrap() {
            all[key] = value.clone();
        }
        json!([task("title", json!(["controller"]), cmd, all)])
    };
    let site = Site::new(&with("write", json!({}))).await;
    let cases = [
        ("fail", json!({}), TaintCause::Failed),
        ("refuse", json!({}), TaintCause::Failed),
        ("time out", json!({}), TaintCause::TimedOut),
        ("interrupt", json!({}), TaintCause::Interrupted),
        // The failure is ignored for the result of the run, but the node does not have the desired state.
        ("fail", json!({"fail_on_error": false}), TaintCause::Failed),
    ];
    for (cmd, more, cause) in cases {
        site.upload("default", &with("write", json!({}))).await;
        site.deploy(json!({"force": true})).await;
        assert_eq!(site.taints("title").await, [None], "{cmd}");
        site.upload("default", &with(cmd, more)).await;
        site.deploy(json!({"force": true})).await;
        assert_eq!(site.taints("title").await, [Some(cause)], "{cmd}");
        assert_eq!(site.planned(json!({})).await, [format!("title@{}", site.nodes[0])], "{cmd}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempt_of_a_stopped_or_deleted_run_taints_the_applied_state() {
    let condition = json!({"condition": {"yaql_exp": "changed($.settings.common.debug.value)"}});
    for path in ["runs/{run}/stop", "transactions/{run}?force=1"] {
        let site =
            Site::new(&json!([task("title", json!(["controller"]), "write", condition.clone())])).await;
        site.deploy(json!({})).await;
        site.upload("default", &json!([task("title", json!(["controller"]), "hang", condition.clone())]))
            .await;
        site.attempts.take();
        let run = id(&site.execute(json!({"force": true})).await.expect(202));
        site.wait_until_started().await;
        let path = path.replace("{run}", &run.to_string());
        if path.ends_with("stop") {
            site.server.post(&path, &json!({"how": "now"})).await.expect(202);
            site.wait_for_end(run).await;
            assert_eq!(site.taints("title").await, [Some(TaintCause::Cancelled)]);
        } else {
            assert!(site.server.delete(&path).await.status < 300);
            assert_eq!(site.taints("title").await, [Some(TaintCause::InFlight)]);
        }
        site.upload("default", &json!([task("title", json!(["controller"]), "write", condition.clone())]))
            .await;
        assert_eq!(site.planned(json!({})).await, [format!("title@{}", site.nodes[0])]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dry_and_noop_runs_leave_applied_states_alone() {
    let site = Site::new(&json!([title()])).await;
    for extra in [json!({"dry_run": true}), json!({"noop_run": true})] {
        site.deploy(extra).await;
        assert_eq!(site.taints("title").await, []);
    }
    site.deploy(json!({})).await;
    site.set_debug(true).await;
    for extra in [json!({"dry_run": true}), json!({"noop_run": true})] {
        site.deploy(extra).await;
        assert_eq!(site.taints("title").await, [None; 2]);
    }
}

/// Expressions read the cluster status from before the run, for each way to start a run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_plan_with_the_cluster_status_before_the_run() {
    let guarded = |name: &str, statuses: &str| {
        let condition = json!({"yaql_exp": format!("$.cluster.status in {statuses}")});
        task(name, json!(["controller"]), "true", json!({"condition": condition}))
    };
    let tasks = json!([guarded("first", "[new]"), guarded("later", "[operational, partially_deployed]")]);
    let site = Site::new(&tasks).await;
    site.upload("second", &json!([guarded("second", "[new]")])).await;
    let node = site.nodes[0];
    assert_eq!(site.planned(json!({})).await, [format!("first@{node}")]);
    // All graphs of a run read the same status.
    let graphs = json!({"graphs": [{"type": "default"}, {"type": "second"}]});
    assert_eq!(site.deploy(graphs).await["status"], "ready");
    assert_eq!(site.attempts.take(), [format!("first@{node}"), format!("second@{node}")]);
    assert_eq!(site.cluster_status().await, "partially_deployed", "the other node has no task");
    for path in ["changes", "changes/redeploy", "deploy?nodes={nodes}"] {
        let expected = site.planned(json!({})).await;
        assert_eq!(expected, [format!("later@{node}")]);
        let nodes = site.nodes.map(|node| node.to_string()).join(",");
        let path = format!("clusters/{}/{}", site.cluster, path.replace("{nodes}", &nodes));
        let run = id(&site.server.put(&path, &json!({})).await.expect(202));
        assert_eq!(site.wait_for_end(run).await["status"], "ready");
        assert_eq!(site.attempts.take(), expected, "{path}");
    }
}

/// A plan that is requested while a run is active reads the same status as the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_during_a_run_reads_the_cluster_status_before_it() {
    let condition = json!({"condition": {"yaql_exp": "$.cluster.status = new"}});
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", condition)])).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    site.wait_until_started().await;
    assert_eq!(site.cluster_status().await, "deployment");
    assert_eq!(site.planned(json!({})).await, [format!("slow@{}", site.nodes[0])]);
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.wait_for_end(run).await;
    assert_eq!(site.cluster_status().await, "stopped");
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
}

/// The remembered records have the statuses after the run, so that they differ only when a node really changes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_run_does_not_see_its_own_status_changes() {
    let when = |name: &str, condition: &str| {
        task(name, json!("*"), "true", json!({"condition": {"yaql_exp": condition}}))
    };
    let tasks = json!([
        when("all", "changed($.nodes)"),
        when("computes", "changed($.nodes.where($.role = compute))"),
        when("own", "changed($.status)"),
        when("cluster", "changed($.cluster.status)"),
        when("members", "changed($.nodes.uid)"),
    ]);
    let site = Site::new(&tasks).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    let labelled = json!({"labels": {"rack": "r1"}});
    site.server.put(&format!("nodes/{}", site.nodes[0]), &labelled).await.expect(200);
    let expected = site.nodes.map(|node| format!("all@{node}"));
    assert_eq!(site.planned(json!({})).await, expected, "only records with labels changed");
}

/// A task of version 3 runs if and only if its rendered parameters change, wherever their values come from.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_inputs_run_a_task_without_a_condition() {
    let with = |parameters: Value| {
        let more = json!({"version": "3.0.0", "parameters": parameters});
        json!([task("title", json!("*"), "", more)])
    };
    let cmd = json!({"yaql_exp": "switch($.settings.common.debug.value => verbose, true => quiet)"});
    let site = Site::new(&with(json!({"cmd": cmd, "retries": 0, "timeout": 30}))).await;
    let both = site.nodes.map(|node| format!("title@{node}"));
    assert_eq!(site.planned(json!({})).await, both);
    site.deploy(json!({})).await;
    let nothing = Vec::<String>::new();
    assert_eq!(site.planned(json!({})).await, nothing);
    site.set_debug(true).await;
    assert_eq!(site.planned(json!({})).await, both);
    site.deploy(json!({})).await;
    assert_eq!(site.planned(json!({})).await, nothing);
    // Scheduling parameters are no inputs; the command is.
    site.upload("default", &with(json!({"cmd": cmd, "retries": 3, "timeout": 60}))).await;
    assert_eq!(site.planned(json!({})).await, nothing);
    site.upload("default", &with(json!({"cmd": "other", "retries": 3, "timeout": 60}))).await;
    assert_eq!(site.planned(json!({})).await, both);
}

/// An edit of a task runs it again, and the reason names the attribute and the layer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edited_task_runs_again_unless_the_graph_keeps_it() {
    let with = |cmd: &str| {
        let condition = json!({"condition": {"yaql_exp": "changed($.settings.common.debug.value)"}});
        json!([task("title", json!(["controller"]), cmd, condition)])
    };
    let site = Site::new(&with("first")).await;
    site.deploy(json!({})).await;
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    site.upload("default", &with("second")).await;
    assert_eq!(site.planned(json!({})).await, [format!("title@{}", site.nodes[0])]);
    let plans = site.server.get(&format!("clusters/{}/plans?order_by=-id&limit=1", site.cluster)).await;
    let plan = plans.expect(200)[0]["id"].clone();
    let instances = site.server.get(&format!("plans/{plan}/instances?action=run")).await.expect(200);
    let reason = instances[0]["reason"].as_str().unwrap();
    assert!(reason.contains("its definition changed: `parameters.cmd` (layer cluster)"), "{reason}");
    let path = format!("clusters/{}/deployment_graphs/default/", site.cluster);
    site.server.patch(&path, &json!({"on_definition_change": "keep"})).await.expect(200);
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
}

/// Parameters that print statuses are compared as they will be after the run, so that the second plan is empty.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statuses_in_parameters_do_not_run_a_task_twice() {
    let with = |name: &str, cmd: &str| {
        let parameters = json!({"cmd": {"yaql_exp": cmd}, "retries": 0, "timeout": 30});
        task(name, json!("*"), "", json!({"version": "3.0.0", "parameters": parameters}))
    };
    let tasks = json!([
        with("records", "$.nodes.select($.name + $.status).join(' ')"),
        with("own", "'write ' + $.status + str($.pending_addition)"),
        with("cluster", "$.cluster.status"),
    ]);
    let site = Site::new(&tasks).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
}

impl Site {
    /// Instances that run according to the plans of the child runs, in order.
    async fn run_plans(&self, run: i64) -> Vec<Vec<String>> {
        let children =
            self.server.get(&format!("transactions/?cluster_id={}", self.cluster)).await.expect(200);
        let mut children: Vec<(i64, Value)> = children
            .as_array()
            .unwrap()
            .iter()
            .filter(|child| child["parent_id"] == run)
            .map(|child| (id(child), child["result"]["plan_id"].clone()))
            .collect();
        children.sort_by_key(|(id, _)| *id);
        let mut plans = Vec::new();
        for (_, plan) in children {
            plans.push(self.running(&plan).await);
        }
        plans
    }
}

/// A dry run assumes that the graphs before have succeeded, as they have in a real run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dry_run_of_several_graphs_decides_as_the_real_run() {
    let when = |name: &str, condition: &str| {
        task(name, json!("*"), "true", json!({"condition": {"yaql_exp": condition}}))
    };
    let site = Site::new(&json!([
        when("title", "changed($.settings.common.debug.value)"),
        when("installed", "$.status = provisioned"),
        when("fresh", "$.pending_addition"),
        task("inputs", json!("*"), "write", json!({"version": "3.0.0"})),
    ]))
    .await;
    site.upload("install", &json!([when("install", "true")])).await;
    let path = format!("clusters/{}/deployment_graphs/install/", site.cluster);
    let on_success = json!({"on_success": {"node_attributes": {"status": "provisioned"}}});
    site.server.patch(&path, &on_success).await.expect(200);
    let graphs =
        json!([{"type": "install"}, {"type": "default", "nodes": [site.nodes[0]]}, {"type": "default"}]);
    let dry = site.deploy(json!({"graphs": graphs, "dry_run": true})).await;
    assert_eq!(dry["status"], "ready", "{dry}");
    let expected = site.run_plans(id(&dry)).await;
    let of = |task: &str, node: usize| format!("{task}@{}", site.nodes[node]);
    assert_eq!(expected[0], [of("install", 0), of("install", 1)]);
    assert_eq!(expected[1], [of("fresh", 0), of("inputs", 0), of("installed", 0), of("title", 0)]);
    assert_eq!(expected[2], [of("fresh", 1), of("inputs", 1), of("installed", 1), of("title", 1)]);
    let real = site.deploy(json!({"graphs": graphs})).await;
    assert_eq!(site.run_plans(id(&real)).await, expected);
}

/// A run changes only the statuses of nodes with tasks, and so does the applied state.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_of_nodes_without_tasks_is_unchanged_in_applied_state() {
    let observes = |name: &str, text: &str| {
        task(
            name,
            json!(["controller"]),
            "write",
            json!({"condition": {"yaql_exp": format!("changed({text})")}}),
        )
    };
    let site =
        Site::new(&json!([observes("cluster", "$.cluster.status"), observes("nodes", "$.nodes")])).await;
    assert_eq!(site.planned(json!({})).await.len(), 2);
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
}
