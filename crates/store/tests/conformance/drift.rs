//! Checks of nodes and their results.

use stoker_model::{
    AppliedInstances, AppliedMark, AppliedSuccess, ClusterId, DocumentId, DriftCounts, DriftResult,
    DriftStatus, GraphType, HostDifference, Micros, RunId, SnapshotId, TaintCause,
};
use stoker_store::{DriftFilter, List, StoreError, WriteTransaction};

use crate::fixture::{Fixture, NOW, cluster, commit, graph_type, n_rows};

async fn succeed(
    writing: &mut WriteTransaction,
    cluster: ClusterId,
    graph: &GraphType,
    run: i64,
    names: &[(&str, &str)],
) {
    mark(writing, cluster, graph, run, names).await;
    let success = |(task, uid): &(&str, &str)| AppliedSuccess {
        node_uid: (*uid).to_owned(),
        task_name: (*task).to_owned(),
        document_id: DocumentId(1),
        inputs: Some(format!("{task} {run}")),
        inputs_id: None,
    };
    let successes: Vec<AppliedSuccess> = names.iter().map(success).collect();
    writing.applied_put(cluster, graph, RunId(run), SnapshotId(1), &successes).await.unwrap();
}

async fn mark(
    writing: &mut WriteTransaction,
    cluster: ClusterId,
    graph: &GraphType,
    run: i64,
    names: &[(&str, &str)],
) {
    let mark = |(task, uid): &(&str, &str)| AppliedMark {
        node_uid: (*uid).to_owned(),
        task_name: (*task).to_owned(),
        cause: TaintCause::InFlight,
    };
    let marks: Vec<AppliedMark> = names.iter().map(mark).collect();
    writing.applied_mark(cluster, graph, RunId(run), &marks).await.unwrap();
}

fn result(task: &str, uid: &str, run: i64, status: DriftStatus) -> DriftResult {
    DriftResult {
        node_uid: uid.to_owned(),
        task_name: task.to_owned(),
        run_id: RunId(run),
        checked_at: NOW,
        status,
        repairs: status == DriftStatus::Drifted,
        message: None,
        diff: vec![HostDifference::value("/etc/a", "mode", None, Some("0644".to_owned()))],
    }
}

async fn results_are_valid_until_the_task_is_executed_again(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await.id, cluster(&mut writing, "two").await.id);
    let graph = graph_type("default");
    succeed(&mut writing, one, &graph, 5, &[("a", "1"), ("a", "2"), ("b", "1")]).await;
    succeed(&mut writing, two, &graph, 6, &[("a", "1")]).await;
    let instances = writing.applied_instances(one, &graph).await.unwrap();
    let expected = [("a", vec!["1", "2"]), ("b", vec!["1"])].map(|(task, nodes)| AppliedInstances {
        task_name: task.to_owned(),
        inputs: Some(format!("{task} 5")),
        run_id: RunId(5),
        nodes: nodes.into_iter().map(str::to_owned).collect(),
    });
    assert_eq!(instances, expected);

    let all = [
        result("a", "1", 5, DriftStatus::Drifted),
        result("a", "2", 5, DriftStatus::InSync),
        result("b", "1", 5, DriftStatus::Unknown),
        // Of an earlier success, of a node without a success.
        result("b", "2", 4, DriftStatus::Drifted),
    ];
    writing.drift_put(one, &graph, &all).await.unwrap();
    commit(writing).await;
    let list = async |filter: DriftFilter| {
        fixture.read().await.drift_list(one, &filter, &List::default()).await.unwrap().items
    };
    assert_eq!(list(DriftFilter::default()).await, all[..3]);
    let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let filter = DriftFilter { tasks: names(&["a"]), nodes: names(&["2"]), ..DriftFilter::default() };
    assert_eq!(list(filter).await, all[1..2]);
    let filter = DriftFilter { statuses: Some(vec![DriftStatus::Unknown]), ..DriftFilter::default() };
    assert_eq!(list(filter).await, all[2..3]);
    let filter = DriftFilter { graph_type: Some(graph_type("other")), ..DriftFilter::default() };
    assert_eq!(list(filter).await, []);
    assert_eq!(fixture.read().await.drift_repairs(one, &graph).await.unwrap(), all[..1]);
    assert_eq!(fixture.read().await.drift_repairs(two, &graph).await.unwrap(), []);

    // A result that is unknown does not end the repair; one that is in sync does.
    let mut writing = fixture.change().await;
    writing.drift_put(one, &graph, &[result("a", "1", 5, DriftStatus::Unknown)]).await.unwrap();
    let repairs = writing.drift_repairs(one, &graph).await.unwrap();
    assert_eq!(repairs, [DriftResult { repairs: true, ..result("a", "1", 5, DriftStatus::Unknown) }]);
    writing.drift_put(one, &graph, &[result("a", "1", 5, DriftStatus::InSync)]).await.unwrap();
    assert_eq!(writing.drift_repairs(one, &graph).await.unwrap(), []);

    // An attempt and a success end the validity.
    writing.drift_put(one, &graph, &all).await.unwrap();
    mark(&mut writing, one, &graph, 7, &[("a", "1")]).await;
    assert_eq!(writing.drift_repairs(one, &graph).await.unwrap(), []);
    assert_eq!(writing.applied_instances(one, &graph).await.unwrap()[0].nodes, ["2"]);
    succeed(&mut writing, one, &graph, 7, &[("a", "1")]).await;
    let valid = writing.drift_list(one, &DriftFilter::default(), &List::default()).await.unwrap();
    assert_eq!(valid.items, all[1..3]);
    commit(writing).await;
}

async fn checks_end_and_are_bounded(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await.id;
    let graph = graph_type("default");
    let until = Micros(NOW.0 + 60);
    let missing = writing.drift_check_create(ClusterId(99), &graph, until).await;
    assert_error!(missing, StoreError::NotFound { what: "cluster" });
    let check = writing.drift_check_create(one, &graph, until).await.unwrap();
    assert_eq!(writing.drift_check_get(check.id).await.unwrap(), Some(check.clone()));
    assert_eq!(writing.drift_check_running(one, NOW).await.unwrap(), Some(check.clone()));
    assert_eq!(writing.drift_check_running(one, until).await.unwrap(), None, "its server ended");
    commit(writing).await;
    let drifted = result("a", "1", 5, DriftStatus::Drifted);
    fixture.store.drift_record(&check, &[drifted], Micros(until.0 + 60), NOW).await.unwrap();
    assert_eq!(n_rows(fixture, "drift_results").await, 1);
    assert!(fixture.read().await.drift_check_running(one, until).await.unwrap().is_some());
    let counts = DriftCounts { n_in_sync: 1, n_changed: 2, n_drifted: 3, n_unknown: 4 };
    fixture.store.drift_check_finish(&check, counts, Some("stopped"), NOW).await.unwrap();
    let ended = fixture.read().await.drift_check_get(check.id).await.unwrap().unwrap();
    assert_eq!((ended.n_in_sync, ended.n_changed, ended.n_drifted, ended.n_unknown), (1, 2, 3, 4));
    assert_eq!((ended.ended_at, ended.problem.as_deref()), (Some(NOW), Some("stopped")));
    assert_eq!(n_rows(fixture, "drift_results").await, 0, "results that are not valid are deleted");
    let mut writing = fixture.change().await;
    for _ in 0..101 {
        writing.drift_check_create(one, &graph, until).await.unwrap();
    }
    let checks = writing.drift_check_list(one, &List::default()).await.unwrap().items;
    assert_eq!((checks.len(), checks[0].id > checks[1].id), (100, true));
    commit(writing).await;
}

on_both! { results_are_valid_until_the_task_is_executed_again, checks_end_and_are_bounded }
