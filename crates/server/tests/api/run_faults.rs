//! Runs under faults: forged reports, early stops, deletion of active runs, secrets and access control.

use std::time::Duration;

use serde_json::{Value, json};

use crate::beginnings::{create_cluster, create_node, id};
use crate::runs::{Site, task};
use crate::support::TestServer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forged_agent_reports_are_ignored() {
    let tasks = json!([
        task("slow", json!(["controller"]), "hang", json!({})),
        task("liar", json!(["compute"]), "forge", json!({})),
    ]);
    let site = Site::new(&tasks).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    let is_done =
        |rows: &[(String, String, String)]| rows.iter().any(|row| row.0 == "liar" && row.2 == "ready");
    for _ in 0..400 {
        if is_done(&site.history(run).await) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    let history = site.history(run).await;
    assert!(is_done(&history), "{history:?}");
    let slow = history.iter().find(|row| row.0 == "slow").unwrap();
    assert_eq!(slow.2, "running", "only its own agent can report its end");
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.wait_for_end(run).await;
    let output = site.server.get(&format!("runs/{run}/output?search=forged")).await.expect(200);
    assert_eq!(output, json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_stopped_before_start_ends_as_stopped() {
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    for path in ["clusters/{cluster}/stop_deployment?now=1", "runs/{run}/stop"] {
        for _ in 0..5 {
            let run = id(&site.execute(json!({})).await.expect(202));
            let path =
                path.replace("{cluster}", &site.cluster.to_string()).replace("{run}", &run.to_string());
            // The stop may arrive while the run is planned or just after its start.
            if path.starts_with("runs") {
                site.server.post(&path, &json!({"how": "now"})).await.expect(202);
            } else {
                site.server.put(&path, &json!({})).await.expect(202);
            }
            let ended = site.wait_for_end(run).await;
            assert_eq!(
                (&ended["status"], &ended["message"]),
                (&json!("error"), &json!("the run was stopped"))
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_an_active_run_or_cluster_cancels_attempts() {
    for template in ["transactions/{run}?force=1", "clusters/{cluster}?force=1"] {
        let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
        let run = id(&site.execute(json!({})).await.expect(202));
        site.wait_until_started().await;
        let path =
            template.replace("{run}", &run.to_string()).replace("{cluster}", &site.cluster.to_string());
        assert!(site.server.delete(&path).await.status < 300);
        for _ in 0..200 {
            if site.attempts.entries().contains(&"killed".to_owned()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        assert!(
            site.attempts.entries().contains(&"killed".to_owned()),
            "{template}: {:?}",
            site.attempts.entries()
        );
        if template.starts_with("transactions") {
            assert_eq!(site.cluster_status().await, "stopped");
            assert_eq!(site.statuses().await, ["stopped", "discover"]);
        }
    }
}

/// Deleting the active child run stops the whole run; deleting a waiting child run does not affect the
/// others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_deleting_the_active_child_run_stops_the_run() {
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    site.upload("second", &json!([task("two", json!(["controller"]), "true", json!({}))])).await;
    site.upload("third", &json!([task("three", json!(["controller"]), "true", json!({}))])).await;
    let graphs = json!({"graphs": [{"type": "default"}, {"type": "second"}, {"type": "third"}]});
    let run = id(&site.execute(graphs).await.expect(202));
    site.wait_until_started().await;
    let parent = site.server.get(&format!("runs/{run}")).await.expect(200);
    let child_run = |index: usize| id(&parent["parts"][index]["run"]);
    site.server.delete(&format!("transactions/{}?force=1", child_run(2))).await.expect(204);
    assert_eq!(site.cluster_status().await, "deployment", "the other child runs continue");
    site.server.delete(&format!("transactions/{}?force=1", child_run(0))).await.expect(204);
    let ended = site.wait_for_end(run).await;
    assert_eq!((&ended["status"], &ended["message"]), (&json!("error"), &json!("the run was stopped")));
    assert_eq!(site.cluster_status().await, "stopped");
    let attempts = site.attempts.entries();
    assert!(
        !attempts.iter().any(|attempt| attempt.starts_with("two") || attempt.starts_with("three")),
        "{attempts:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_receive_secrets_of_their_own_node() {
    let cmd = json!({"yaql_exp": "'secrets of ' + $.db_password"});
    let tasks = json!([{"id": "tell", "type": "shell", "version": "2.0.0", "roles": ["controller"],
        "parameters": {"cmd": cmd, "retries": 0, "timeout": 30}}]);
    let site = Site::new(&tasks).await;
    let supplied: Vec<Value> = site
        .nodes
        .iter()
        .map(|node| json!({"uid": node.to_string(), "db_password": format!("opensesame{node}")}))
        .collect();
    let path = format!("clusters/{}/orchestrator/deployment/", site.cluster);
    site.server.put(&path, &json!(supplied)).await.expect(200);
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    let secrets = site.attempts.secrets();
    assert!(secrets.contains(&format!("opensesame{}", site.nodes[0])), "{secrets:?}");
    assert!(
        !secrets.contains(&format!("opensesame{}", site.nodes[1])),
        "secrets of other nodes are not sent"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_receive_secrets_of_task_parameters() {
    let parameters = json!({"cmd": "deploy", "retries": 0, "timeout": 30,
        "env": {"DB_PASSWORD": "opensesame", "PIN_KEY": 123_456_789, "REGION": "north-west"}});
    let tasks = json!([{"id": "deploy", "type": "shell", "version": "2.0.0", "roles": ["controller"],
        "parameters": parameters}]);
    let site = Site::new(&tasks).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    let secrets = site.attempts.secrets();
    for secret in ["opensesame", "123456789"] {
        assert!(secrets.contains(&secret.to_owned()), "{secrets:?}");
    }
    assert!(!secrets.contains(&"north-west".to_owned()), "{secrets:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reboot_on_local_agent_requires_a_hook() {
    let tasks = json!([{"id": "restart", "type": "reboot", "version": "2.0.0", "roles": ["controller"],
        "parameters": {"timeout": 30, "retries": 0}}]);
    let site = Site::new(&tasks).await;
    let run = site.deploy(json!({})).await;
    assert_eq!(run["status"], "error");
    let history =
        site.server.get(&format!("transactions/{}/deployment_history", run["id"])).await.expect(200);
    assert!(history.to_string().contains("--hook reboot=PATH"), "{history}");
    assert_eq!(site.attempts.entries(), Vec::<String>::new(), "no attempt was dispatched");
    assert_eq!(site.deploy(json!({"noop_run": true})).await["status"], "ready");
}

#[tokio::test]
async fn member_sees_only_agents_of_its_tenant() {
    let server = TestServer::new().await;
    let [free, assigned] = [create_node(&server, 1).await, create_node(&server, 2).await];
    let cluster = create_cluster(&server).await;
    server
        .post(&format!("clusters/{cluster}/assignment"), &json!([{"id": assigned, "roles": ["compute"]}]))
        .await
        .expect(200);
    let token = server.post("join_tokens", &json!({"may_replace": true})).await.expect(201)["token"].clone();
    for name in [free.to_string(), assigned.to_string(), "master".to_owned()] {
        server.post("agents/join", &json!({"token": token, "node": name})).await.expect(201);
    }
    let uids = async |bearer: &str| {
        let agents = server.send_as(bearer, "GET", "agents", &Value::Null).await.expect(200);
        agents
            .as_array()
            .unwrap()
            .iter()
            .map(|agent| agent["uid"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let (own_member, other_member) = (
        server.create_user("ann", "admin", "member").await,
        server.create_user("bob", "blue", "member").await,
    );
    assert_eq!(uids(&own_member).await, [assigned.to_string()]);
    assert_eq!(uids(&other_member).await, Vec::<String>::new());
    assert_eq!(uids(&server.create_user("vic", "blue", "viewer").await).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_covers_all_graphs_of_a_run() {
    let site = Site::new(&json!([task("one", json!(["controller"]), "true", json!({}))])).await;
    site.upload("second", &json!([task("two", json!(["controller"]), "hang", json!({}))])).await;
    let run =
        id(&site.execute(json!({"graphs": [{"type": "default"}, {"type": "second"}]})).await.expect(202));
    let state = site.wait_until(run, |state| state["progress"] == 50).await;
    assert_eq!(state["status"], "running");
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.wait_for_end(run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_child_runs_share_one_sequence() {
    let site = Site::new(&json!([task("one", json!(["controller"]), "true", json!({}))])).await;
    site.upload("second", &json!([task("two", json!(["controller"]), "true", json!({}))])).await;
    let graphs = json!({"graphs": [{"type": "default"}, {"type": "second"}]});
    let run = id(&site.execute(graphs).await.expect(202));
    // The stream covers all child runs and ends with the run.
    let request =
        site.server.request("GET", &format!("runs/{run}/events")).header("accept", "text/event-stream");
    let stream = site.server.send(request.body(axum::body::Body::empty()).unwrap()).await;
    let ended = site.wait_for_end(run).await;
    assert_eq!((&ended["status"], &ended["stopped"]), (&json!("ready"), &json!(false)), "{ended}");
    let events = site.server.get(&format!("runs/{run}/events")).await.expect(200);
    let events = events.as_array().unwrap().clone();
    let numbers: Vec<i64> = events.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>());
    let ends: Vec<&Value> = events.iter().filter(|event| event["kind"] == "ended").collect();
    assert_eq!(ends.len(), 2);
    assert_ne!(ends[0]["part"], ends[1]["part"]);
    let text = stream.body.as_str().unwrap().to_owned();
    let streamed: Vec<i64> =
        text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect();
    assert_eq!(streamed, numbers, "{text}");
    // Events can be resumed after any sequence number, including one of an ended child run.
    for after in [0, 1, ends[0]["seq"].as_i64().unwrap(), numbers.len() as i64 - 1, numbers.len() as i64] {
        let remaining = site.server.get(&format!("runs/{run}/events?after={after}")).await.expect(200);
        assert_eq!(remaining.as_array().unwrap()[..], events[after as usize..], "{after}");
    }
    let page = site.server.get(&format!("runs/{run}/events?after=1&limit=3")).await.expect(200);
    assert_eq!(page.as_array().unwrap()[..], events[1..4]);
    // A child run numbers its own events from 1.
    let second = site.server.get(&format!("runs/{}/events", ends[1]["part"])).await.expect(200);
    assert_eq!(second[0]["seq"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_run_is_marked_as_stopped() {
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    let run = id(&site.execute(json!({})).await.expect(202));
    site.wait_until_started().await;
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    let ended = site.wait_for_end(run).await;
    assert_eq!((&ended["status"], &ended["stopped"]), (&json!("error"), &json!(true)), "{ended}");
    let parent = site.server.get(&format!("runs/{run}")).await.expect(200);
    assert_eq!(parent["parts"][0]["run"]["stopped"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletion_on_another_server_cancels_attempts() {
    let site = Site::new(&json!([task("slow", json!(["controller"]), "hang", json!({}))])).await;
    site.execute(json!({})).await.expect(202);
    site.wait_until_started().await;
    let (store, settings) = (site.server.app.store.clone(), site.server.app.settings.clone());
    let (other, _) = stoker_server::App::new(store, settings).await.unwrap();
    let request = site.server.request("DELETE", &format!("clusters/{}?force=1", site.cluster));
    let deleted = tower::ServiceExt::oneshot(
        stoker_server::service(&other),
        request.body(axum::body::Body::empty()).unwrap(),
    );
    assert!(deleted.await.unwrap().status().is_success());
    for _ in 0..400 {
        if site.attempts.entries().contains(&"killed".to_owned()) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert!(site.attempts.entries().contains(&"killed".to_owned()), "{:?}", site.attempts.entries());
}
