//! Drift: checks of nodes, their results, and the repair by the next run.

use serde_json::{Value, json};
use stoker_engine::session::CheckOutcome;
use stoker_model::HostDifference;

use crate::beginnings::id;
use crate::runs::{Site, task};

fn file(name: &str, roles: Value, more: Value) -> Value {
    let mut task = json!({
        "id": name, "type": "file", "version": "2.0.0", "roles": roles,
        "parameters": {"path": format!("/etc/{name}"), "content": "a\n", "retries": 0},
    });
    for (key, value) in more.as_object().unwrap() {
        task[key] = value.clone();
    }
    task
}

fn graph() -> Value {
    json!([
        file("config", json!(["controller", "compute"]), json!({})),
        file("motd", json!(["controller"]), json!({"on_drift": "report"})),
        file("cache", json!(["controller"]), json!({"on_drift": "ignore"})),
        file(
            "debug",
            json!(["compute"]),
            json!({
                "parameters": {"path": "/etc/debug", "content": {"yaql_exp": "str($.settings.common.debug.value)"}},
            })
        ),
        task(
            "script",
            json!(["controller"]),
            "echo",
            json!({"condition": {"yaql_exp": "changed($.cluster.name)"}})
        ),
    ])
}

fn differs() -> CheckOutcome {
    CheckOutcome::Compared {
        diff: vec![HostDifference::text("/etc/config", "content", "-a\n+b\n".to_owned())],
    }
}

impl Site {
    /// Checks the nodes and returns the check when it has ended.
    async fn check(&self, body: Value) -> Value {
        let path = format!("clusters/{}/drift_checks", self.cluster);
        let check = id(&self.server.post(&path, &body).await.expect(202));
        for _ in 0..600 {
            let check = self.server.get(&format!("{path}/{check}")).await.expect(200);
            if check["status"] != "running" {
                return check;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!("drift check {check} did not end in time");
    }

    /// Returns the results as `task@node status`.
    async fn drift(&self, query: &str) -> Vec<String> {
        let results = self.server.get(&format!("clusters/{}/drift{query}", self.cluster)).await.expect(200);
        let text = |row: &Value| {
            let text = |key: &str| row[key].as_str().unwrap().to_owned();
            format!("{}@{} {}", text("task"), text("node"), text("status"))
        };
        results.as_array().unwrap().iter().map(text).collect()
    }
}

fn counts(check: &Value) -> [i64; 4] {
    ["n_in_sync", "n_changed", "n_drifted", "n_unknown"].map(|key| check[key].as_i64().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_is_found_and_repaired_as_the_task_says() {
    let site = Site::new(&graph()).await;
    let [one, two] = site.nodes;
    let check = site.check(json!({})).await;
    assert_eq!((counts(&check), &check["status"]), ([0; 4], &json!("ready")), "nothing was applied");
    site.deploy(json!({})).await;
    let check = site.check(json!({})).await;
    assert_eq!(counts(&check), [4, 0, 0, 0], "{check}");
    let mut expected = vec![
        format!("/etc/config@{one}"),
        format!("/etc/config@{two}"),
        format!("/etc/debug@{two}"),
        format!("/etc/motd@{one}"),
    ];
    expected.sort();
    assert_eq!(site.attempts.take_checked(), expected);
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());

    for path in ["/etc/config", "/etc/motd", "/etc/cache"] {
        site.attempts.set_host(path, differs());
    }
    let failed = CheckOutcome::Failed { message: "no such user\0".to_owned() };
    site.attempts.set_host("/etc/debug", failed);
    let check = site.check(json!({})).await;
    assert_eq!(counts(&check), [0, 0, 3, 1], "{check}");
    let results = site.server.get(&format!("clusters/{}/drift", site.cluster)).await.expect(200);
    assert_eq!(
        results[0]["diff"],
        json!([{"subject": "/etc/config", "attribute": "content", "old": null, "new": null, "text": "-a\n+b\n"}])
    );
    assert_eq!((&results[0]["repairs"], &results[3]["repairs"]), (&json!(true), &json!(false)));
    assert_eq!(
        (&results[2]["status"], &results[2]["message"]),
        (&json!("unknown"), &json!("no such user\u{fffd}"))
    );

    // The task with `on_drift: report` is not repaired.
    let repaired = [format!("config@{one}"), format!("config@{two}")];
    assert_eq!(site.planned(json!({})).await, repaired);
    let plan = site.server.post(&format!("clusters/{}/plans", site.cluster), &json!({})).await.expect(201);
    let instances = site.server.get(&format!("plans/{}/instances?action=run", plan["id"])).await.expect(200);
    assert_eq!(
        instances[0]["reason"],
        "drifted: the last check found that the node differs from its applied state"
    );
    assert_eq!(instances[0]["drift"]["status"], "drifted");
    site.attempts.take();
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    let mut attempts = site.attempts.take();
    attempts.sort();
    assert_eq!(attempts, repaired);
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    assert_eq!(
        site.drift("?status=drifted").await,
        [format!("motd@{one} drifted")],
        "results of earlier states are dropped"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_result_does_not_end_a_repair() {
    let site = Site::new(&graph()).await;
    let [one, two] = site.nodes;
    site.deploy(json!({})).await;
    site.attempts.set_host("/etc/config", differs());
    site.check(json!({})).await;
    site.server.put(&format!("nodes/{two}"), &json!({"online": false})).await.expect(200);
    site.attempts.set_host("/etc/config", CheckOutcome::Compared { diff: vec![] });
    let check = site.check(json!({})).await;
    assert_eq!(counts(&check), [2, 0, 0, 2], "{check}");
    let offline = site.server.get(&format!("clusters/{}/drift?node={two}", site.cluster)).await.expect(200);
    assert_eq!(
        (&offline[0]["message"], &offline[0]["repairs"]),
        (&json!("the node is offline"), &json!(true))
    );
    assert_eq!(site.drift(&format!("?task=config&node={one}")).await, [format!("config@{one} in_sync")]);
    site.server.put(&format!("nodes/{two}"), &json!({"online": true})).await.expect(200);
    assert_eq!(site.planned(json!({})).await, [format!("config@{two}")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_inputs_are_no_drift() {
    let site = Site::new(&graph()).await;
    let [_, two] = site.nodes;
    site.deploy(json!({})).await;
    site.set_debug(true).await;
    site.attempts.set_host("/etc/debug", differs());
    let check = site.check(json!({})).await;
    assert_eq!(counts(&check), [3, 1, 0, 0], "{check}");
    assert_eq!(site.drift("?status=changed").await, [format!("debug@{two} changed")]);
    assert!(!site.attempts.take_checked().contains(&format!("/etc/debug@{two}")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refreshed_plan_repairs_what_drifted() {
    let site = Site::new(&graph()).await;
    let [one, two] = site.nodes;
    site.deploy(json!({})).await;
    site.attempts.set_host("/etc/config", differs());
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    let repaired = [format!("config@{one}"), format!("config@{two}")];
    assert_eq!(site.planned(json!({"refresh": true})).await, repaired);
    site.attempts.set_host("/etc/config", CheckOutcome::Compared { diff: vec![] });
    assert_eq!(site.planned(json!({})).await, repaired, "the last check found the drift");
    assert_eq!(site.planned(json!({"refresh": true, "nodes": [one]})).await, Vec::<String>::new());
    assert_eq!(site.planned(json!({})).await, repaired[1..]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_covers_the_selected_nodes_tasks_and_graph_type() {
    let site = Site::new(&graph()).await;
    let [one, two] = site.nodes;
    site.upload("other", &json!([file("else", json!(["controller"]), json!({}))])).await;
    site.deploy(json!({})).await;
    site.deploy(json!({"graphs": [{"type": "other"}]})).await;
    for (body, expected) in [
        (json!({"nodes": [two]}), vec![format!("/etc/config@{two}"), format!("/etc/debug@{two}")]),
        (json!({"nodes": [one], "tasks": ["config"]}), vec![format!("/etc/config@{one}")]),
        (json!({"graph_type": "other"}), vec![format!("/etc/else@{one}")]),
    ] {
        let check = site.check(body).await;
        assert_eq!(site.attempts.take_checked(), expected, "{check}");
    }
    assert_eq!(site.drift("?graph_type=other").await, [format!("else@{one} in_sync")]);
    let path = format!("clusters/{}/drift_checks", site.cluster);
    for body in [json!({"nodes": [99]}), json!({"tasks": ["missing"]}), json!({"graph_type": "missing"})] {
        site.server.post(&path, &body).await.expect(400);
    }
    let checks = site.server.get(&path).await.expect(200);
    assert_eq!(checks.as_array().map(Vec::len), Some(3));
    assert_eq!((&checks[0]["graph_type"], &checks[0]["created_by"]), (&json!("other"), &json!("admin")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_with_a_run_is_not_checked() {
    let site = Site::new(&json!([task("wait", json!(["controller"]), "hang", json!({}))])).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    let path = format!("clusters/{}/drift_checks", site.cluster);
    site.server.post(&path, &json!({})).await.expect(409);
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.wait_for_end(run).await;
    site.check(json!({})).await;
}
