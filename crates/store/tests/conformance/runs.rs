use serde_json::json;
use stoker_model::{
    ClusterId, HistoryRecord, HistoryStatus, HostDifference, Micros, NewRun, Run, RunId, RunName, RunStatus,
    TaskReport,
};
use stoker_store::{Effects, HistoryFilter, List, RunFilter, StoreError};

use crate::fixture::{Fixture, NOW, cluster, commit, graph_type, map, new_run, run};

async fn all_fields_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "c").await;
    let created = run(&mut writing, "u1").await;
    assert_eq!(writing.run_get(created.id).await.unwrap().as_ref(), Some(&created));
    let parent = run(&mut writing, "u2").await;
    let changed = Run {
        parent_id: Some(parent.id),
        cluster_id: Some(cluster.id),
        name: RunName::Deployment,
        status: RunStatus::Error,
        progress: 100,
        message: Some("no".to_owned()),
        result: json!({"a": [null]}),
        graph_type: Some(graph_type("provision")),
        dry_run: true,
        started_at: None,
        ended_at: Some(NOW),
        is_hidden: true,
        ..created.clone()
    };
    let changed = writing.run_update(&changed).await.unwrap();
    assert_error!(writing.run_update(&created).await, StoreError::Stale { current: 2 });
    let clash = Run { uuid: "u1".to_owned(), ..parent.clone() };
    assert_error!(writing.run_update(&clash).await, StoreError::AlreadyExists { what: "run uuid" });
    assert_error!(writing.run_create(&new_run("u1")).await, StoreError::AlreadyExists { what: "run uuid" });
    let orphan = NewRun { parent_id: Some(RunId(99)), ..new_run("u3") };
    assert_error!(writing.run_create(&orphan).await, StoreError::NotFound { what: "run" });
    let dangling = NewRun { cluster_id: Some(ClusterId(99)), ..new_run("u3") };
    assert_error!(writing.run_create(&dangling).await, StoreError::NotFound { what: "cluster" });
    commit(writing).await;
    assert_eq!(fixture.read().await.run_get(created.id).await.unwrap(), Some(changed));
}

async fn list_filters(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let mut create = async |uuid: &str, cluster_id, parent_id, name, status| {
        let new = NewRun { cluster_id, parent_id, name, status, ..new_run(uuid) };
        writing.run_create(&new).await.unwrap().id
    };
    let (deploy, part) = (RunName::Deploy, RunName::Deployment);
    let a = create("a", Some(one.id), None, deploy, RunStatus::Running).await;
    let b = create("b", Some(one.id), Some(a), part, RunStatus::Ready).await;
    let c = create("c", Some(one.id), Some(a), part, RunStatus::Pending).await;
    let d = create("d", Some(two.id), None, RunName::Provision, RunStatus::Ready).await;
    let e = create("e", None, None, RunName::Dump, RunStatus::Error).await;
    let mut hidden = writing.run_get(d).await.unwrap().unwrap();
    hidden.is_hidden = true;
    writing.run_update(&hidden).await.unwrap();
    commit(writing).await;
    let mut session = fixture.read().await;
    let mut list = async |filter: RunFilter| {
        let page = session.run_list(&filter, &List::default()).await.unwrap();
        page.items.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    let all = RunFilter::default;
    assert_eq!(list(all()).await, [a, b, c, d, e]);
    assert_eq!(list(RunFilter { cluster_id: Some(Some(one.id)), ..all() }).await, [a, b, c]);
    assert_eq!(list(RunFilter { cluster_id: Some(None), ..all() }).await, [e]);
    assert_eq!(list(RunFilter { tenant_id: Some(two.tenant_id), ..all() }).await, [d]);
    let statuses = Some(vec![RunStatus::Ready, RunStatus::Error]);
    assert_eq!(list(RunFilter { statuses: statuses.clone(), ..all() }).await, [b, d, e]);
    assert_eq!(list(RunFilter { statuses: Some(vec![]), ..all() }).await, []);
    let names = Some(vec![part, RunName::Dump]);
    assert_eq!(list(RunFilter { names: names.clone(), ..all() }).await, [b, c, e]);
    assert_eq!(list(RunFilter { parent_id: Some(None), ..all() }).await, [a, d, e]);
    assert_eq!(list(RunFilter { hidden: Some(true), ..all() }).await, [d]);
    let both = RunFilter { statuses, names, hidden: Some(false), ..all() };
    assert_eq!(list(both).await, [b, e]);
    let children = session.run_children(a).await.unwrap();
    assert_eq!(children.iter().map(|run| run.id).collect::<Vec<_>>(), [b, c]);
}

fn record(run_id: RunId, task: &str, node: &str, started_at: Option<i64>) -> HistoryRecord {
    HistoryRecord {
        run_id,
        task_name: task.to_owned(),
        node_id: node.to_owned(),
        status: HistoryStatus::Pending,
        started_at: started_at.map(Micros),
        ended_at: None,
        task: map(json!({"type": "puppet", "parameters": {"timeout": 3600}})),
        custom: map(json!({"retries": 1})),
        report: TaskReport {
            summary: map(json!({"events": {}})),
            changed: Some(true),
            diff: vec![HostDifference::value("/etc/a", "mode", None, Some("0644".to_owned()))],
        },
    }
}

async fn history_is_upserted_and_ordered(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (run(&mut writing, "1").await.id, run(&mut writing, "2").await.id);
    let late = record(one, "a", "1", Some(20));
    let early = record(one, "b", "2", Some(10));
    let beside = record(one, "c", "1", Some(10));
    let never = record(one, "d", "-", None);
    let other = record(two, "a", "1", Some(1));
    // The same key occurs twice in one call; the last record wins.
    let outdated = record(one, "a", "1", None);
    let all = [&other, &outdated, &never, &late, &early, &beside].map(Clone::clone);
    writing.history_put(&all).await.unwrap();
    writing.history_put(&[]).await.unwrap();
    let finished =
        HistoryRecord { status: HistoryStatus::Ready, ended_at: Some(Micros(30)), ..early.clone() };
    writing.history_put(std::slice::from_ref(&finished)).await.unwrap();
    let lost = writing.history_put(&[record(RunId(99), "a", "1", None)]).await;
    assert!(matches!(lost, Err(StoreError::NotFound { .. })), "{lost:?}");
    drop(writing);

    let mut writing = fixture.change().await;
    let (one, two) = (run(&mut writing, "1").await.id, run(&mut writing, "2").await.id);
    let of = |record: &HistoryRecord, run_id| HistoryRecord { run_id, ..record.clone() };
    let expected = [of(&beside, one), of(&finished, one), of(&late, one), of(&never, one), of(&other, two)];
    writing.history_put(&expected).await.unwrap();
    commit(writing).await;
    let mut session = fixture.read().await;
    let everything = HistoryFilter::default();
    assert_eq!(session.history_list(&[two, one], &everything).await.unwrap(), expected);
    assert_eq!(session.history_list(&[two], &everything).await.unwrap(), expected[4..]);
    assert_eq!(session.history_list(&[], &everything).await.unwrap(), []);
    let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let filter = HistoryFilter { nodes: names(&["1", "x\0"]), ..HistoryFilter::default() };
    assert_eq!(
        session.history_list(&[one], &filter).await.unwrap(),
        [&expected[0], &expected[2]].map(Clone::clone)
    );
    let statuses = Some(vec![HistoryStatus::Ready]);
    let filter = HistoryFilter { statuses, task_names: names(&["b", "c"]), ..HistoryFilter::default() };
    assert_eq!(session.history_list(&[one], &filter).await.unwrap(), expected[1..2]);
}

async fn effects_of_a_run_include_its_children(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let parent = run(&mut writing, "1").await.id;
    let child = writing.run_create(&NewRun { parent_id: Some(parent), ..new_run("2") }).await.unwrap().id;
    let ended = |run_id, task: &str, status, changed| {
        let record = record(run_id, task, "1", Some(1));
        let report = TaskReport { changed, ..record.report.clone() };
        HistoryRecord { status, ended_at: Some(Micros(2)), report, ..record }
    };
    let records = [
        ended(parent, "a", HistoryStatus::Ready, Some(true)),
        ended(child, "b", HistoryStatus::Ready, Some(true)),
        ended(child, "c", HistoryStatus::Ready, Some(false)),
        ended(child, "d", HistoryStatus::Ready, None),
        ended(child, "e", HistoryStatus::Error, None),
        ended(child, "f", HistoryStatus::Skipped, None),
        record(child, "g", "1", Some(1)),
    ];
    writing.history_put(&records).await.unwrap();
    commit(writing).await;
    let mut session = fixture.read().await;
    let of_parent = Effects { changed: 2, unchanged: 1, unknown: 2 };
    assert_eq!(session.history_effects(parent).await.unwrap(), of_parent);
    assert_eq!(session.history_effects(child).await.unwrap(), Effects { changed: 1, ..of_parent });
    assert_eq!(session.history_effects(RunId(99)).await.unwrap(), Effects::default());
}

async fn deleting_run_deletes_children_and_history(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let parent = run(&mut writing, "1").await.id;
    let child = writing.run_create(&NewRun { parent_id: Some(parent), ..new_run("2") }).await.unwrap().id;
    let many: Vec<HistoryRecord> =
        (0..250).map(|number| record(child, &format!("task {number}"), "1", None)).collect();
    writing.history_put(&many).await.unwrap();
    let all = HistoryFilter::default();
    assert_eq!(writing.history_list(&[child], &all).await.unwrap().len(), 250);
    assert!(writing.run_delete(parent).await.unwrap());
    assert!(!writing.run_delete(parent).await.unwrap());
    assert_eq!(writing.run_get(child).await.unwrap(), None);
    assert_eq!(writing.history_list(&[child], &all).await.unwrap(), []);
    commit(writing).await;
}

async fn expired_runs_are_deleted_with_children_and_history(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let mut ids = Vec::new();
    for (uuid, status, ended_at) in [
        ("old", RunStatus::Ready, Some(NOW)),
        ("new", RunStatus::Error, Some(NOW.plus_seconds(10))),
        ("running", RunStatus::Running, None),
    ] {
        let parent = writing.run_create(&NewRun { status, ended_at, ..new_run(uuid) }).await.unwrap().id;
        // A child run may have ended long before its parent.
        let uuid = format!("part of {uuid}");
        let part = NewRun { parent_id: Some(parent), ended_at: Some(NOW), ..new_run(&uuid) };
        let part = writing.run_create(&part).await.unwrap().id;
        writing.history_put(&[record(part, "a", "1", None)]).await.unwrap();
        ids.push((parent, part));
    }
    assert_eq!(writing.runs_expire(NOW).await.unwrap(), 0, "the bound is exclusive");
    assert_eq!(writing.runs_expire(NOW.plus_seconds(1)).await.unwrap(), 1);
    assert_eq!(writing.runs_expire(NOW.plus_seconds(1)).await.unwrap(), 0);
    for ((parent, part), is_kept) in ids.into_iter().zip([false, true, true]) {
        assert_eq!(writing.run_get(parent).await.unwrap().is_some(), is_kept);
        assert_eq!(writing.run_get(part).await.unwrap().is_some(), is_kept);
        let history = writing.history_list(&[part], &HistoryFilter::default()).await.unwrap();
        assert_eq!(history.len(), usize::from(is_kept));
    }
    commit(writing).await;
}

async fn task_durations_average_successes_of_the_cluster(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let one = crate::fixture::cluster(&mut writing, "one").await.id;
    let of_cluster = |uuid: &str| NewRun {
        cluster_id: Some(one),
        graph_type: Some(graph_type("default")),
        ..new_run(uuid)
    };
    let run_id = writing.run_create(&of_cluster("1")).await.unwrap().id;
    let backup = NewRun { graph_type: Some(graph_type("backup")), ..of_cluster("backup") };
    let backup = writing.run_create(&backup).await.unwrap().id;
    // Dry runs and runs without a graph type neither count nor use up the limit of recent runs.
    let noop = NewRun { dry_run: true, ..of_cluster("3") };
    let noop = writing.run_create(&noop).await.unwrap().id;
    for number in 4..30 {
        let other = NewRun { graph_type: None, ..of_cluster(&number.to_string()) };
        writing.run_create(&other).await.unwrap();
    }
    let elsewhere = run(&mut writing, "2").await.id;
    let took = |run_id, task: &str, node: &str, ms: i64, status| HistoryRecord {
        status,
        started_at: Some(NOW),
        ended_at: Some(Micros(NOW.0 + ms * 1000)),
        ..record(run_id, task, node, None)
    };
    let records = [
        took(run_id, "a", "1", 100, HistoryStatus::Ready),
        took(run_id, "a", "2", 300, HistoryStatus::Ready),
        took(run_id, "a", "3", 9000, HistoryStatus::Error),
        HistoryRecord { ended_at: None, ..took(run_id, "b", "1", 1, HistoryStatus::Ready) },
        took(elsewhere, "c", "1", 5, HistoryStatus::Ready),
        took(noop, "a", "1", 1, HistoryStatus::Ready),
        took(backup, "a", "1", 7000, HistoryStatus::Ready),
    ];
    writing.history_put(&records).await.unwrap();
    for (name, expected) in [
        ("default", vec![("a".to_owned(), 200)]),
        ("backup", vec![("a".to_owned(), 7000)]),
        ("other", Vec::new()),
    ] {
        let durations = writing.task_durations(one, &graph_type(name)).await.unwrap();
        assert_eq!(durations.into_iter().collect::<Vec<_>>(), expected, "{name}");
    }
    commit(writing).await;
}

async fn last_run_of_each_cluster(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await.id, cluster(&mut writing, "two").await.id);
    let mut create = async |uuid: &str, cluster_id, name| {
        writing.run_create(&NewRun { cluster_id, name, ..new_run(uuid) }).await.unwrap()
    };
    create("a", Some(one), RunName::Deploy).await;
    let last_of_one = create("b", Some(one), RunName::Deploy).await;
    let last_of_two = create("c", Some(two), RunName::Deploy).await;
    create("d", Some(one), RunName::Deployment).await;
    create("e", None, RunName::Deploy).await;
    let mut last = async |clusters: &[ClusterId]| writing.runs_last(RunName::Deploy, clusters).await.unwrap();
    assert_eq!(last(&[two, one]).await, [last_of_one, last_of_two.clone()]);
    assert_eq!(last(&[two, ClusterId(99)]).await, [last_of_two]);
    assert_eq!(last(&[]).await, []);
    commit(writing).await;
}

on_both![
    all_fields_round_trip,
    deleting_run_deletes_children_and_history,
    expired_runs_are_deleted_with_children_and_history,
    effects_of_a_run_include_its_children,
    history_is_upserted_and_ordered,
    last_run_of_each_cluster,
    list_filters,
    task_durations_average_successes_of_the_cluster,
];
