//! Expressions of task fields through the whole product: upload as a user writes them, plan, run, change, plan.

use serde_json::{Value, json};

use crate::beginnings::create_node;
use crate::runs::{Site, task};

impl Site {
    /// Uploads one task on all nodes with this condition; returns the warnings.
    async fn upload_condition(&self, condition: &str) -> Vec<String> {
        let tasks = json!([task("t", json!("*"), "true", json!({"condition": {"yaql_exp": condition}}))]);
        let path = format!("clusters/{}/deployment_graphs/default/", self.cluster);
        let graph = self.server.put(&path, &tasks).await.expect(200);
        let message = |warning: &Value| warning["message"].as_str().unwrap().to_owned();
        graph["warnings"].as_array().into_iter().flatten().map(message).collect()
    }

    /// Plans, deploys and plans again; the second plan must be empty. Returns the nodes of the first plan.
    async fn plan_and_deploy(&self) -> Vec<i64> {
        let planned = self.nodes_of_plan().await;
        assert_eq!(self.deploy(json!({})).await["status"], "ready");
        let mut executed = self.attempts.take();
        executed.sort();
        assert_eq!(executed, planned.iter().map(|node| format!("t@{node}")).collect::<Vec<_>>());
        planned
    }

    async fn nodes_of_plan(&self) -> Vec<i64> {
        let planned = self.planned(json!({})).await;
        planned.iter().map(|instance| instance.trim_start_matches("t@").parse().unwrap()).collect()
    }

    async fn set_configs(&self, nova: Value) {
        let settings = json!({"editable": {"configs": {"nova": {"value": nova}}}});
        self.server.put(&format!("clusters/{}/attributes", self.cluster), &settings).await.expect(200);
    }

    /// Adds a node with this role to the cluster.
    async fn add_node(&self, role: &str) -> i64 {
        let nodes = self.server.get("nodes").await.expect(200);
        let number = u8::try_from(nodes.as_array().unwrap().len() + 1).unwrap();
        let node = create_node(&self.server, number).await;
        let path = format!("clusters/{}/assignment", self.cluster);
        self.server.post(&path, &json!([{"id": node, "roles": [role]}])).await.expect(200);
        node
    }

    /// Uploads facts of a node as an inventory agent does.
    async fn upload_facts(&self, node: i64, facts: Value) {
        let mut body = json!({"id": node});
        for (key, value) in facts.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.server.put("nodes/agent/", &body).await.expect(200);
    }
}

const NOTHING: [i64; 0] = [];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_status_selects_tasks() {
    let site = Site::new(&json!([])).await;
    let warnings = site.upload_condition("$.cluster.status in [operational, new, partially_deployed]").await;
    assert_eq!(warnings, [""; 0]);
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    assert_eq!(site.cluster_status().await, "operational");
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    site.upload_condition("$.cluster.status in [new, partially_deployed]").await;
    assert_eq!(site.nodes_of_plan().await, NOTHING);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn number_of_nodes_is_observed() {
    let site = Site::new(&json!([])).await;
    site.upload_condition("changed($.nodes.where($.role = 'compute'))").await;
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    assert_eq!(site.plan_and_deploy().await, NOTHING);
    let controller = site.add_node("controller").await;
    assert_eq!(site.plan_and_deploy().await, [controller], "no task has succeeded there yet");
    let compute = site.add_node("compute").await;
    let all = [site.nodes[0], site.nodes[1], controller, compute];
    assert_eq!(site.plan_and_deploy().await, all);
    assert_eq!(site.plan_and_deploy().await, NOTHING);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_settings_are_observed() {
    let site = Site::new(&json!([])).await;
    site.upload_condition("changed($.configs.nova)").await;
    assert_eq!(site.plan_and_deploy().await, NOTHING, "there is no such section yet");
    site.set_configs(json!({"cpu_ratio": 8})).await;
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    assert_eq!(site.plan_and_deploy().await, NOTHING);
    site.set_configs(json!({"cpu_ratio": 9})).await;
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    assert_eq!(site.plan_and_deploy().await, NOTHING);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn labels_are_observed() {
    let site = Site::new(&json!([])).await;
    site.upload_condition("changed($.nodes.where($.label = 'testing'))").await;
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    assert_eq!(site.plan_and_deploy().await, NOTHING);
    let label = |value: &str| json!({"labels": {"purpose": value}});
    for (node, value, expected) in
        [(0, "other", vec![]), (1, "testing", site.nodes.to_vec()), (0, "x", vec![])]
    {
        site.server.put(&format!("nodes/{}", site.nodes[node]), &label(value)).await.expect(200);
        assert_eq!(site.plan_and_deploy().await, expected, "{value}");
        assert_eq!(site.plan_and_deploy().await, NOTHING);
    }
    // A label without a value is its own name.
    let named = json!({"labels": {"testing": null}});
    site.server.put(&format!("nodes/{}", site.nodes[0]), &named).await.expect(200);
    assert_eq!(site.plan_and_deploy().await, site.nodes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn routes_of_nodes_with_an_attribute_are_observed() {
    let site = Site::new(&json!([])).await;
    site.attempts.set_fact("hostname", json!("one"));
    site.attempts.set_fact("network_scheme", json!({"interfaces": {"eth0": {"mtu": 1500}}, "routes": []}));
    let [first, second] = site.nodes;
    for (node, name) in [(first, "r1"), (second, "r2")] {
        let attributes = json!({"rack": name});
        let path = format!("nodes/{node}/attributes/");
        site.server.put(&path, &attributes).await.expect(200);
    }
    let routes = |gateway: &str| json!({"network_scheme": {"routes": [{"net": "default", "via": gateway}]}});
    site.upload_facts(first, routes("10.0.0.1")).await;
    site.upload_condition("changed($.nodes.where($.attribute = 'r1').network_scheme('routes'))").await;
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    assert_eq!(site.plan_and_deploy().await, NOTHING);
    site.upload_facts(second, routes("10.0.0.2")).await;
    assert_eq!(site.plan_and_deploy().await, NOTHING, "the node has another attribute");
    site.upload_facts(first, routes("10.0.0.9")).await;
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    assert_eq!(site.plan_and_deploy().await, NOTHING);
}

/// Facts from both sources, whichever came first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploaded_facts_are_merged_with_reported_ones() {
    let site = Site::new(&json!([task("t", json!("*"), "true", json!({}))])).await;
    let reported = json!({"interfaces": {"eth0": {"mtu": 1500}}, "routes": ["old"]});
    site.attempts.set_fact("network_scheme", reported);
    site.attempts.set_fact("kernel", json!("6.1"));
    let [first, second] = site.nodes;
    let uploaded = json!({"network_scheme": {"routes": ["new"]}, "rack": 7});
    site.upload_facts(first, uploaded.clone()).await;
    site.deploy(json!({})).await;
    site.upload_facts(second, uploaded.clone()).await;
    let merged = json!({"interfaces": {"eth0": {"mtu": 1500}}, "routes": ["new"]});
    let facts =
        async |node: i64| site.server.get(&format!("nodes/{node}")).await.expect(200)["facts"].clone();
    for node in site.nodes {
        // Presence is written in the background.
        for _ in 0..200 {
            if facts(node).await["kernel"] == "6.1" {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        let facts = facts(node).await;
        assert_eq!(
            (&facts["network_scheme"], &facts["rack"], &facts["kernel"]),
            (&merged, &json!(7), &json!("6.1"))
        );
    }
    // A later upload replaces the earlier one, and keeps what the agent reported.
    site.upload_facts(first, json!({"row": 3})).await;
    let facts = facts(first).await;
    assert_eq!((&facts["row"], &facts["rack"]), (&json!(3), &Value::Null), "{facts}");
    assert_eq!(facts["network_scheme"]["routes"], json!(["old"]), "{facts}");
}

/// `True` and `False` are texts in YAQL: the upload warns, and the suggested spelling works.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expected_and_deployed_values_are_compared() {
    let site = Site::new(&json!([])).await;
    let value = |value: Value| json!({"parameter": {"value": value}});
    site.set_configs(value(json!(false))).await;
    let warnings = site.upload_condition("new($.configs.nova.parameter.value) = False").await;
    assert!(warnings.len() == 1 && warnings[0].contains("`False` is the text"), "{warnings:?}");
    assert_eq!(site.nodes_of_plan().await, NOTHING);
    assert_eq!(site.upload_condition("new($.configs.nova.parameter.value) = false").await, [""; 0]);
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    site.set_configs(value(json!(true))).await;
    assert_eq!(site.plan_and_deploy().await, NOTHING);

    let warnings = site.upload_condition("old($.configs.nova.parameter.value) = True").await;
    assert!(warnings.iter().any(|warning| warning.contains("never true on a first run")), "{warnings:?}");
    assert!(warnings.iter().any(|warning| warning.contains("`True` is the text")), "{warnings:?}");
    assert_eq!(site.nodes_of_plan().await, NOTHING, "a boolean differs from every text");
    site.upload_condition("changed($.configs.nova) or old($.configs.nova.parameter.value) = true").await;
    assert_eq!(site.plan_and_deploy().await, site.nodes, "the value changed from false to true");
    assert_eq!(site.plan_and_deploy().await, site.nodes, "the value of the last success is true");
    site.set_configs(value(json!(false))).await;
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    assert_eq!(site.plan_and_deploy().await, NOTHING);

    site.upload_condition("new($.settings.common.debug.value) = true").await;
    assert_eq!(site.plan_and_deploy().await, NOTHING);
    site.set_debug(true).await;
    assert_eq!(site.plan_and_deploy().await, site.nodes);
}

/// A task that observes deployed and new controllers runs on an added controller. On other nodes it runs when controllers are
/// both new and ready for the first time since its last success there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addition_of_controllers_is_observed() {
    const CONDITION: &str = "changed($.nodes.where($.status = 'ready' and 'controller' in $.roles))\n\
                             and changed($.nodes.where($.status = 'discover' and 'controller' in\n\
                             $.roles and $.pending_addition = true))";
    let site = Site::new(&json!([])).await;
    assert_eq!(site.upload_condition(CONDITION).await, [""; 0]);
    assert_eq!(site.plan_and_deploy().await, site.nodes);
    assert_eq!(site.plan_and_deploy().await, NOTHING);
    let added = site.add_node("controller").await;
    assert_eq!(site.plan_and_deploy().await, [added]);
    assert_eq!(site.plan_and_deploy().await, NOTHING);
    site.add_node("compute").await;
    let new = site.add_node("controller").await;
    let expected = [site.nodes[0], site.nodes[1], added + 1, new];
    assert_eq!(site.nodes_of_plan().await, expected, "since their last success another controller is ready");
}

/// The strategy depends on the status of the cluster, and has the spelling of the design.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strategy_is_computed_with_either_spelling() {
    let strategy = json!({"yaql_exp": "switch($.cluster.status = new => parallel, true => 'one-by-one')"});
    let with = |strategy: Value| {
        let parameters = json!({"cmd": "take a moment", "retries": 0, "timeout": 30, "strategy": strategy});
        json!([task("t", json!("*"), "", json!({"parameters": parameters}))])
    };
    let site = Site::new(&with(json!({"type": strategy}))).await;
    let overlaps = async |site: &Site| {
        let run = site.deploy(json!({})).await["id"].as_i64().unwrap();
        let rows = site.server.get(&format!("transactions/{run}/deployment_history")).await.expect(200);
        let times = |row: &Value| (row["time_start"].to_string(), row["time_end"].to_string());
        let times: Vec<_> = rows.as_array().unwrap().iter().map(times).collect();
        times[0].0 < times[1].1 && times[1].0 < times[0].1
    };
    assert!(overlaps(&site).await, "all nodes of a new cluster at once");
    assert!(!overlaps(&site).await, "one node after the other once it is deployed");
    for strategy in [json!({"type": "one-by-one"}), json!({"yaql_exp": "dict(type => 'one-by-one')"})] {
        site.upload("default", &with(strategy)).await;
        assert!(!overlaps(&site).await);
    }
}

/// A condition in the form of the design, which is not YAML, is refused with the right form.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inline_expressions_are_refused_with_the_right_form() {
    let site = Site::new(&json!([])).await;
    let path = format!("clusters/{}/deployment_graphs/default/", site.cluster);
    let send = async |media_type: &str, text: String| {
        let request = site.server.request("PUT", &path).header("content-type", media_type);
        site.server.send(request.body(axum::body::Body::from(text)).unwrap()).await
    };
    let help = "write an expression as `condition: {yaql_exp: \"…\"}`";
    let yaml = "- id: a\n  type: shell\n  role: '*'\n  condition: yaql_exp: {changed($.nodes)}\n".to_owned();
    let error = send("application/x-yaml", yaml).await.expect_error(400);
    assert!(error.contains(help), "{error}");
    let task = task("a", json!("*"), "true", json!({"condition": "yaql_exp: {changed($.nodes)}"}));
    let error = send("application/json", json!([task]).to_string()).await.expect_error(400);
    assert!(error.contains(help), "{error}");
}

/// `update_required` and `update_once` of roles, unless a task has a condition of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_demand_updates_of_other_nodes() {
    let default = |name: &str, more: Value| {
        let mut more = more;
        more["version"] = json!("3.0.0");
        task(name, json!("*"), "true", more)
    };
    let site = Site::new(&json!([
        default("updated", json!({})),
        default("own", json!({"condition": {"yaql_exp": "inputsChanged()"}})),
    ]))
    .await;
    for (role, meta) in [
        ("controller", json!({"name": "Controller", "description": "x", "update_required": ["compute"]})),
        ("ceph-osd", json!({"name": "Ceph", "description": "x", "update_once": ["controller"]})),
    ] {
        let role_body = json!({"name": role, "meta": meta, "volumes_roles_mapping": []});
        site.server.put(&format!("releases/1/roles/{role}"), &role_body).await.expect(200);
    }
    let [controller, compute] = site.nodes;
    site.deploy(json!({})).await;
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    let added = site.add_node("controller").await;
    let on_added = |node: i64| [format!("own@{node}"), format!("updated@{node}")];
    let mut expected = on_added(added).to_vec();
    expected.push(format!("updated@{compute}"));
    expected.sort();
    assert_eq!(site.planned(json!({})).await, expected);
    site.deploy(json!({})).await;
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    for is_first in [true, false] {
        let storage = site.add_node("ceph-osd").await;
        let mut expected = on_added(storage).to_vec();
        if is_first {
            expected.extend([controller, added].map(|node| format!("updated@{node}")));
        }
        expected.sort();
        assert_eq!(site.planned(json!({})).await, expected, "{is_first}");
        site.deploy(json!({})).await;
        assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    }
}
