use serde_json::{Value, json};
use stoker_model::{HistoryRecord, HistoryStatus, Micros, Run, RunId, RunName, RunStatus, TaskReport};

use crate::beginnings::{create_child_run, create_cluster, create_run, id, map, send_with_header};
use crate::fixtures::{begin_write, commit};
use crate::support::TestServer;

fn ids(list: &Value) -> Vec<i64> {
    list.as_array().expect("a list").iter().map(id).collect()
}

fn record(
    run_id: RunId,
    task: &str,
    node: &str,
    status: HistoryStatus,
    second: Option<i64>,
) -> HistoryRecord {
    let at = |second: i64| Micros(1_769_842_800_000_000).plus_seconds(second);
    HistoryRecord {
        run_id,
        task_name: task.to_owned(),
        node_id: node.to_owned(),
        status,
        started_at: second.map(at),
        ended_at: second.map(|second| at(second + 1)),
        task: map(json!({"id": task, "type": "shell", "parameters": {"cmd": "true"}})),
        custom: map(json!({"exit_code": 0})),
        report: TaskReport::of_summary(map(json!({"events": 1}))),
    }
}

/// Stores a run with two child runs on cluster 1 and their history records.
async fn create_runs(server: &TestServer) -> [Run; 3] {
    let cluster_id = Some(create_cluster(server).await);
    let parent = create_run(server, cluster_id, RunName::Deploy, RunStatus::Ready).await;
    let first =
        create_child_run(server, cluster_id, RunName::Deployment, RunStatus::Ready, Some(&parent)).await;
    let second =
        create_child_run(server, cluster_id, RunName::Deployment, RunStatus::Error, Some(&parent)).await;
    let records = [
        record(first.id, "a", "2", HistoryStatus::Ready, Some(1)),
        record(first.id, "b", "1", HistoryStatus::Ready, Some(0)),
        record(first.id, "c", "-", HistoryStatus::Skipped, None),
        record(second.id, "a", "master", HistoryStatus::Error, Some(5)),
    ];
    let mut transaction = begin_write(server).await;
    transaction.history_put(&records).await.unwrap();
    commit(transaction).await;
    [parent, first, second]
}

#[tokio::test]
async fn runs_are_listed_and_read() {
    let server = TestServer::new().await;
    let [parent, first, second] = create_runs(&server).await;
    let free = create_run(&server, None, RunName::Dump, RunStatus::Pending).await;
    let (parent, first, second, free) = (parent.id.0, first.id.0, second.id.0, free.id.0);
    let transaction_view = server.get(&format!("transactions/{parent}/")).await.expect(200);
    let expected = json!({
        "id": parent, "cluster": 1, "uuid": "uuid-0", "name": "deploy", "status": "ready", "progress": 0,
        "message": null, "result": {}, "dry_run": false, "stopped": false, "outcome": "succeeded", "graph_type": null,
        "time_start": "2026-01-31T07:00:00.123456", "time_end": null, "parent_id": null, "effects": null,
    });
    assert_eq!(transaction_view, expected);
    for (query, expected) in [
        ("transactions", vec![parent, first, second, free]),
        ("transactions?cluster_id=1", vec![parent, first, second]),
        ("transactions?cluster_id=", vec![parent, first, second, free]),
        ("transactions?statuses=error,pending", vec![second, free]),
        ("transactions?transaction_types=deploy,dump", vec![parent, free]),
        ("transactions?cluster_id=77", vec![]),
        ("tasks?cluster_id=", vec![free]),
        ("tasks?cluster_id=1&statuses=ready", vec![parent, first]),
        ("tasks/?order_by=-id&limit=1", vec![free]),
    ] {
        assert_eq!(ids(&server.get(query).await.expect(200)), expected, "{query}");
    }
    assert_eq!(server.get(&format!("tasks/{first}")).await.expect(200)["parent_id"], parent);
    for query in [
        "transactions?statuses=skipped",
        "transactions?transaction_types=x",
        "tasks?cluster_id=x",
        "tasks?limit=x",
    ] {
        server.get(query).await.expect_error(400);
    }
    assert_eq!(server.get("transactions/99").await.expect_error(404), "Transaction not found");
    assert_eq!(server.get("tasks/99").await.expect_error(404), "Task not found");
}

#[tokio::test]
async fn hidden_runs_are_not_listed_as_tasks() {
    let server = TestServer::new().await;
    let mut old = create_run(&server, None, RunName::Dump, RunStatus::Ready).await;
    let new = create_run(&server, None, RunName::Dump, RunStatus::Ready).await;
    let mut transaction = begin_write(&server).await;
    old.is_hidden = true;
    transaction.run_update(&old).await.unwrap();
    commit(transaction).await;
    assert_eq!(ids(&server.get("tasks").await.expect(200)), [new.id.0]);
    assert_eq!(ids(&server.get("transactions").await.expect(200)), [old.id.0, new.id.0]);
    server.get(&format!("tasks/{}", old.id)).await.expect_error(404);
    server.delete(&format!("tasks/{}", old.id)).await.expect_error(404);
    server.get(&format!("transactions/{}", old.id)).await.expect(200);
}

#[tokio::test]
async fn active_run_is_deleted_only_with_force() {
    let server = TestServer::new().await;
    let [parent, first, _] = create_runs(&server).await;
    for status in [RunStatus::Running, RunStatus::Pending] {
        let active = create_run(&server, Some(1), RunName::Deploy, status).await.id;
        for collection in ["transactions", "tasks"] {
            let message = server.delete(&format!("{collection}/{active}")).await.expect_error(400);
            assert_eq!(message, "You cannot delete running task manually");
        }
        server.delete(&format!("transactions/{active}/?force=x")).await.expect_error(400);
        server.delete(&format!("transactions/{active}/?force=1")).await.expect(204);
        server.get(&format!("transactions/{active}")).await.expect_error(404);
    }
    let path = format!("transactions/{}", parent.id);
    send_with_header(&server, ("DELETE", &path), ("if-match", "\"7\""), "").await.expect_error(412);
    server.delete(&path).await.expect(204);
    server.delete(&path).await.expect_error(404);
    // Child runs are deleted with their parent.
    server.get(&format!("transactions/{}", first.id)).await.expect_error(404);
    server.get(&format!("transactions/{}/deployment_history", first.id)).await.expect_error(404);
}

#[tokio::test]
async fn history_contains_task_outcomes() {
    let server = TestServer::new().await;
    let [parent, first, second] = create_runs(&server).await;
    let path = format!("transactions/{}/deployment_history/", first.id);
    let history = server.get(&path).await.expect(200);
    let expected = json!({
        "task_name": "b", "deployment_graph_task_name": "b", "node_id": "1", "status": "ready",
        "time_start": "2026-01-31T07:00:00.000000", "time_end": "2026-01-31T07:00:01.000000",
        "changed": null, "type": "shell", "parameters": {"cmd": "true"}, "exit_code": 0,
    });
    assert_eq!(history[0], expected);
    let names = |history: &Value| -> Vec<String> {
        let records = history.as_array().unwrap().iter();
        records
            .map(|record| {
                format!("{}@{}", record["task_name"].as_str().unwrap(), record["node_id"].as_str().unwrap())
            })
            .collect()
    };
    assert_eq!(names(&history), ["b@1", "a@2", "c@-"]);
    // The history of the parent covers all child runs.
    let parent_history =
        server.get(&format!("transactions/{}/deployment_history", parent.id)).await.expect(200);
    assert_eq!(names(&parent_history), ["b@1", "a@2", "c@-", "a@master"]);
    for (query, expected) in [
        ("nodes=1,master", &["b@1"][..]),
        ("nodes=", &["b@1", "a@2", "c@-"]),
        ("statuses=skipped", &["c@-"]),
        ("tasks_names=a,%20c", &["a@2", "c@-"]),
        ("tasks_names=a&nodes=1", &[]),
    ] {
        assert_eq!(names(&server.get(&format!("{path}?{query}")).await.expect(200)), expected, "{query}");
    }
    let summary = server.get(&format!("{path}?include_summary=1")).await.expect(200);
    assert_eq!(summary[0]["summary"], json!({"events": 1}));
    let message = server.get(&format!("{path}?statuses=ready,x")).await.expect_error(400);
    assert_eq!(message, "Statuses parameter could be only: pending, running, ready, error, skipped");
    server.get(&format!("{path}?include_summary=x")).await.expect_error(400);
    assert_eq!(
        server.get("transactions/99/deployment_history").await.expect_error(404),
        "Transaction not found"
    );
    let csv = format!("transactions/{}/deployment_history", second.id);
    let reply = send_with_header(&server, ("GET", &csv), ("accept", "text/csv"), "").await;
    assert_eq!(reply.header("content-type"), "text/csv; charset=utf-8");
    let text = "task_name,node_id,status,type,time_start,time_end\r\n\
                a,master,error,shell,2026-01-31T07:00:05.000000,2026-01-31T07:00:06.000000\r\n";
    assert_eq!(reply.expect(200), text);
    send_with_header(&server, ("GET", &csv), ("accept", "image/png"), "").await.expect_error(415);
    send_with_header(&server, ("GET", "transactions"), ("accept", "text/csv"), "").await.expect_error(415);
}

#[tokio::test]
async fn member_sees_only_runs_of_its_clusters() {
    let server = TestServer::new().await;
    let member = server.create_user("ada", "blue", "member").await;
    let [other_run, ..] = create_runs(&server).await;
    let free = create_run(&server, None, RunName::Dump, RunStatus::Ready).await;
    let cluster = json!({"name": "own", "release_id": 1, "tenant": "blue"});
    let cluster_id = id(&server.post("clusters", &cluster).await.expect(201));
    let own_run = create_run(&server, Some(cluster_id), RunName::Deploy, RunStatus::Ready).await;
    let null = json!(null);
    for list in ["transactions", "tasks"] {
        assert_eq!(ids(&server.send_as(&member, "GET", list, &null).await.expect(200)), [own_run.id.0]);
        server.send_as(&member, "GET", &format!("{list}/{}", own_run.id), &null).await.expect(200);
        for hidden in [&other_run, &free] {
            server.send_as(&member, "GET", &format!("{list}/{}", hidden.id), &null).await.expect_error(404);
        }
        server.send_as(&member, "DELETE", &format!("{list}/{}", own_run.id), &null).await.expect_error(403);
    }
    let path = format!("transactions/{}/deployment_history", other_run.id);
    server.send_as(&member, "GET", &path, &null).await.expect_error(404);
}
