//! Applied states, snapshots and machines of agents.

use serde_json::json;
use stoker_model::{
    AgentMachine, AgentUid, AppliedGroup, AppliedInputs, AppliedMark, AppliedSuccess, Cluster, ClusterId,
    DocumentId, GraphType, Micros, NewPlan, NewRun, PlanId, RunId, RunStatus, Snapshot, SnapshotId,
    TaintCause,
};
use stoker_store::{AppliedScope, StateDocument, StoreError, WriteTransaction};

use crate::fixture::{Fixture, cluster, commit, graph_type, map, n_rows, new_run};

fn mark(task: &str, uid: &str, cause: TaintCause) -> AppliedMark {
    AppliedMark { node_uid: uid.to_owned(), task_name: task.to_owned(), cause }
}

fn success(task: &str, uid: &str, document: i64) -> AppliedSuccess {
    AppliedSuccess {
        node_uid: uid.to_owned(),
        task_name: task.to_owned(),
        document_id: DocumentId(document),
        inputs: Some(format!("{document:032x}")),
        inputs_id: Some(DocumentId(document + 1)),
    }
}

/// Marks and succeeds, as a run does.
async fn succeed(
    writing: &mut WriteTransaction,
    cluster: ClusterId,
    graph_type: &GraphType,
    (run, snapshot): (i64, i64),
    successes: &[AppliedSuccess],
) {
    let marks: Vec<AppliedMark> = successes
        .iter()
        .map(|success| mark(&success.task_name, &success.node_uid, TaintCause::InFlight))
        .collect();
    writing.applied_mark(cluster, graph_type, RunId(run), &marks).await.unwrap();
    let updated =
        writing.applied_put(cluster, graph_type, RunId(run), SnapshotId(snapshot), successes).await.unwrap();
    assert_eq!(updated, successes.len());
}

fn group(
    uid: &str,
    state: Option<(i64, i64)>,
    taint: Option<(i64, TaintCause)>,
    tasks: &[&str],
) -> AppliedGroup {
    AppliedGroup {
        node_uid: uid.to_owned(),
        snapshot_id: state.map(|(snapshot, _)| SnapshotId(snapshot)),
        document_id: state.map(|(_, document)| DocumentId(document)),
        tainted_by: taint.map(|(run, _)| RunId(run)),
        taint: taint.map(|(_, cause)| cause),
        tasks: tasks.iter().map(|task| (*task).to_owned()).collect(),
    }
}

async fn states_are_separate_per_graph_type_and_cluster(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let (usual, other) = (graph_type("default"), graph_type("other"));
    let all =
        [success("b", "1", 11), success("a", "1", 11), success("a", "2", 12), success("a", "master", 13)];
    succeed(&mut writing, one.id, &usual, (1, 5), &all).await;
    succeed(&mut writing, one.id, &other, (2, 6), &[success("a", "1", 21)]).await;
    succeed(&mut writing, two.id, &usual, (3, 7), &[success("a", "1", 31)]).await;
    let dangling = writing.applied_mark(ClusterId(99), &usual, RunId(1), &[]).await;
    assert_error!(dangling, StoreError::NotFound { what: "cluster" });
    commit(writing).await;
    let mut session = fixture.read().await;
    let tasks = ["a", "b", "c"];
    let found = session.applied_groups(one.id, &usual, &tasks, &["1", "2", "master", "4"]).await.unwrap();
    let expected = [
        group("1", Some((5, 11)), None, &["a", "b"]),
        group("2", Some((5, 12)), None, &["a"]),
        group("master", Some((5, 13)), None, &["a"]),
    ];
    assert_eq!(found, expected);
    assert_eq!(session.applied_groups(one.id, &usual, &["a"], &["2"]).await.unwrap(), expected[1..2]);
    assert_eq!(session.applied_groups(one.id, &usual, &[], &["1"]).await.unwrap(), []);
    let found = session.applied_groups(one.id, &other, &tasks, &["1"]).await.unwrap();
    assert_eq!(found, [group("1", Some((6, 21)), None, &["a"])]);
    let found = session.applied_groups(two.id, &usual, &tasks, &["1"]).await.unwrap();
    assert_eq!(found, [group("1", Some((7, 31)), None, &["a"])]);
    let inputs = session.applied_inputs(one.id, &usual, &["a"]).await.unwrap();
    let expected = [11, 12, 13].map(|document| AppliedInputs {
        task_name: "a".to_owned(),
        inputs: Some(format!("{document:032x}")),
        inputs_id: Some(DocumentId(document + 1)),
        nodes: vec![["1", "2", "master"][usize::try_from(document).unwrap() - 11].to_owned()],
    });
    assert_eq!(inputs, expected);
}

async fn taint_stays_until_its_run_succeeds(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await;
    let graph = graph_type("default");
    let parent = writing.run_create(&new_run("parent")).await.unwrap();
    let child = NewRun { parent_id: Some(parent.id), ..new_run("child") };
    let child = writing.run_create(&child).await.unwrap().id;
    succeed(&mut writing, one.id, &graph, (1, 5), &[success("a", "1", 11), success("b", "1", 11)]).await;
    let both = [
        mark("a", "1", TaintCause::InFlight),
        mark("new", "1", TaintCause::InFlight),
        mark("a", "1", TaintCause::Failed),
    ];
    writing.applied_mark(one.id, &graph, child, &both).await.unwrap();
    // The reason names the parent run; a run that is gone is named by the id of the child.
    let of = |taint: TaintCause, run: i64| {
        [
            group("1", None, Some((run, TaintCause::InFlight)), &["new"]),
            group("1", Some((5, 11)), Some((run, taint)), &["a"]),
            group("1", Some((5, 11)), None, &["b"]),
        ]
    };
    let sorted = |mut groups: Vec<AppliedGroup>| {
        groups.sort_by(|a, b| (a.snapshot_id, &b.taint).cmp(&(b.snapshot_id, &a.taint)));
        groups
    };
    let tasks = ["a", "b", "new"];
    let found = writing.applied_groups(one.id, &graph, &tasks, &["1"]).await.unwrap();
    assert_eq!(sorted(found), of(TaintCause::Failed, parent.id.0));
    // Neither a run that marked nothing nor another graph type clears the taint.
    let stale = [success("a", "1", 99), success("b", "1", 99), success("unmarked", "1", 99)];
    let other = graph_type("other");
    for (graph, run) in [(&graph, RunId(77)), (&other, child)] {
        assert_eq!(writing.applied_put(one.id, graph, run, SnapshotId(9), &stale).await.unwrap(), 0);
    }
    let found = writing.applied_groups(one.id, &graph, &tasks, &["1"]).await.unwrap();
    assert_eq!(sorted(found), of(TaintCause::Failed, parent.id.0));
    let late = [success("a", "1", 31), success("b", "1", 31)];
    assert_eq!(writing.applied_put(one.id, &graph, child, SnapshotId(9), &late).await.unwrap(), 1);
    let found = writing.applied_groups(one.id, &graph, &["a", "b"], &["1"]).await.unwrap();
    assert_eq!(found, [group("1", Some((5, 11)), None, &["b"]), group("1", Some((9, 31)), None, &["a"])]);
    // A success clears the taint for good: the next success of the same run finds no mark.
    assert_eq!(writing.applied_put(one.id, &graph, child, SnapshotId(9), &late).await.unwrap(), 0);
    commit(writing).await;
}

async fn late_result_taints_later_attempts_only(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await;
    let graph = graph_type("default");
    succeed(&mut writing, one.id, &graph, (3, 5), &[success("older", "1", 11)]).await;
    succeed(&mut writing, one.id, &graph, (8, 6), &[success("newer", "1", 12)]).await;
    writing
        .applied_mark(one.id, &graph, RunId(8), &[mark("flying", "1", TaintCause::InFlight)])
        .await
        .unwrap();
    let all: Vec<(String, String)> = ["older", "newer", "flying", "unknown"]
        .iter()
        .map(|task| ((*task).to_owned(), "1".to_owned()))
        .collect();
    assert_eq!(writing.applied_mark_late(one.id, &graph, RunId(5), &all).await.unwrap(), 2);
    // The attempt in flight may run beside the late one; its success says nothing.
    let flying = [success("flying", "1", 12)];
    assert_eq!(writing.applied_put(one.id, &graph, RunId(8), SnapshotId(6), &flying).await.unwrap(), 0);
    let found = writing.applied_groups(one.id, &graph, &["older", "newer", "flying"], &["1"]).await.unwrap();
    let tainted: Vec<(&[String], bool)> =
        found.iter().map(|group| (&group.tasks[..], group.taint == Some(TaintCause::Unknown))).collect();
    assert_eq!(tainted.iter().filter(|(_, tainted)| *tainted).count(), 2);
    assert!(tainted.contains(&(&["older".to_owned()][..], false)), "{tainted:?}");
    commit(writing).await;
}

async fn invalidation_deletes_rows_in_scope(fixture: &Fixture) {
    let fill = async |writing: &mut WriteTransaction, clusters: &[&Cluster; 2]| {
        for cluster in clusters {
            for graph in ["default", "other"] {
                let both = [success("a", "1", 11), success("b", "1", 11), success("a", "2", 12)];
                succeed(writing, cluster.id, &graph_type(graph), (1, 5), &both).await;
            }
        }
    };
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    fill(&mut writing, &[&one, &two]).await;
    let graph = graph_type("default");
    // An attempt without success applies nothing.
    writing.applied_mark(one.id, &graph, RunId(1), &[mark("a", "3", TaintCause::Failed)]).await.unwrap();
    for (uid, is_applied) in [("1", true), ("3", false), ("4", false)] {
        assert_eq!(writing.applied_exists(uid).await.unwrap(), is_applied, "{uid}");
    }
    let other = AppliedScope::OtherGraphs(one.id, &graph);
    assert_eq!(writing.applied_invalidate(&["1"], other).await.unwrap(), 2);
    assert_eq!(writing.applied_groups(one.id, &graph, &["a"], &["1"]).await.unwrap().len(), 1);
    assert_eq!(writing.applied_invalidate(&["1"], AppliedScope::InCluster(one.id)).await.unwrap(), 2);
    assert_eq!(writing.applied_invalidate(&["1"], AppliedScope::Everywhere).await.unwrap(), 4);
    assert_eq!(writing.applied_invalidate(&["1"], AppliedScope::Everywhere).await.unwrap(), 0);
    assert_eq!(writing.applied_invalidate(&[], AppliedScope::Everywhere).await.unwrap(), 0);
    assert_eq!(writing.applied_groups(two.id, &graph, &["a"], &["2"]).await.unwrap().len(), 1);
    // A success of a run that had marked the row before it was invalidated records nothing.
    let stale = [success("a", "1", 99)];
    assert_eq!(writing.applied_put(one.id, &graph, RunId(1), SnapshotId(9), &stale).await.unwrap(), 0);
    commit(writing).await;
}

async fn repositories_are_listed(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await;
    let (usual, other) = (graph_type("default"), graph_type("other"));
    let documents = [1, 2, 3].map(|number| StateDocument::new(map(json!({"number": number}))));
    let ids = writing.documents_put(&documents).await.unwrap();
    assert_eq!(writing.applied_repositories(one.id).await.unwrap(), []);
    let mut snapshots = Vec::new();
    for id in &ids {
        let plan = writing.plan_create(&new_plan(one.id, *id)).await.unwrap();
        snapshots.push(writing.plan_snapshot_put(plan.id, *id, *id, None, None).await.unwrap().0);
    }
    let both =
        [success("b-repository", "1", 11), success("b-repository", "2", 12), success("repository", "1", 11)];
    succeed(&mut writing, one.id, &usual, (1, snapshots[0]), &both).await;
    succeed(&mut writing, one.id, &other, (1, snapshots[1]), &[success("b-repository", "1", 11)]).await;
    succeed(&mut writing, one.id, &other, (1, snapshots[2]), &[success("a-repository", "1", 11)]).await;
    writing
        .applied_mark(one.id, &usual, RunId(1), &[mark("c-repository", "1", TaintCause::Failed)])
        .await
        .unwrap();
    let rows = writing.applied_repositories(one.id).await.unwrap();
    let expected = [("a-repository", ids[2]), ("b-repository", ids[0]), ("b-repository", ids[1])];
    assert_eq!(rows, expected.map(|(task, id)| (task.to_owned(), id)));
    commit(writing).await;
}

fn new_plan(cluster_id: ClusterId, common_id: DocumentId) -> NewPlan {
    NewPlan {
        cluster_id,
        graph_type: graph_type("default"),
        parent_id: None,
        request: json!({}),
        n_run: 0,
        n_skip: 0,
        inputs: json!({}),
        graph_id: common_id,
        common_id,
        nodes: Vec::new(),
        document: Vec::new(),
    }
}

async fn snapshots_are_shared_and_collected(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await;
    let documents = ["common", "graph", "sources", "settled", "own", "inputs", "unused"]
        .map(|name| StateDocument::new(map(json!({"name": name}))));
    let ids = writing.documents_put(&documents).await.unwrap();
    let new = NewPlan { graph_id: ids[1], ..new_plan(one.id, ids[0]) };
    let plans = [writing.plan_create(&new).await.unwrap().id, writing.plan_create(&new).await.unwrap().id];
    let mut snapshots = Vec::new();
    for plan in plans {
        let id = writing.plan_snapshot_put(plan, ids[0], ids[1], Some(ids[2]), Some(ids[3])).await.unwrap();
        snapshots.push(id);
    }
    assert_eq!(snapshots[0], snapshots[1]);
    let dangling = writing.plan_snapshot_put(PlanId(99), ids[0], ids[1], None, None).await;
    assert!(matches!(dangling, Err(StoreError::NotFound { .. })), "{dangling:?}");
    drop(writing);
    // PostgreSQL aborts a transaction after a failed statement.
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await;
    let ids = writing.documents_put(&documents).await.unwrap();
    let new = NewPlan { graph_id: ids[1], ..new_plan(one.id, ids[0]) };
    let plan = writing.plan_create(&new).await.unwrap().id;
    let full = writing.plan_snapshot_put(plan, ids[0], ids[1], Some(ids[2]), Some(ids[3])).await.unwrap();
    let other = writing.plan_create(&new).await.unwrap().id;
    let bare = writing.plan_snapshot_put(other, ids[0], ids[1], None, None).await.unwrap();
    let expected = Snapshot {
        id: full,
        common_id: ids[0],
        graph_id: Some(ids[1]),
        sources_id: Some(ids[2]),
        settled_id: Some(ids[3]),
    };
    assert_eq!(writing.plan_snapshot(plan).await.unwrap(), Some(expected.clone()));
    assert_eq!(writing.plan_snapshot(PlanId(99)).await.unwrap(), None);
    let mut found = writing.snapshots_get(&[bare, full, SnapshotId(99)]).await.unwrap();
    found.sort_by_key(|snapshot| snapshot.id);
    let without = Snapshot { id: bare, sources_id: None, settled_id: None, ..expected.clone() };
    assert_eq!(found, [expected, without]);
    writing.plan_extras_put(plan, &[0, 255, 7]).await.unwrap();
    assert_eq!(writing.plan_extras(plan).await.unwrap(), Some(vec![0, 255, 7]));
    assert_eq!(writing.plan_extras(other).await.unwrap(), None);
    let applied = AppliedSuccess { inputs_id: Some(ids[5]), ..success("a", "1", ids[4].0) };
    let graph = graph_type("default");
    succeed(&mut writing, one.id, &graph, (1, full.0), &[applied]).await;
    writing.applied_mark(one.id, &graph, RunId(2), &[mark("never", "1", TaintCause::Failed)]).await.unwrap();
    assert_eq!(writing.states_gc().await.unwrap().n_documents, 1, "the unused document");
    writing.plan_delete(plan).await.unwrap();
    writing.plan_delete(other).await.unwrap();
    commit(writing).await;
    assert_eq!(n_rows(fixture, "plan_extras").await, 0);
    assert_eq!(n_rows(fixture, "plan_snapshots").await, 0);
    assert_eq!(n_rows(fixture, "state_snapshots").await, 1, "the applied state needs it");
    assert_eq!(n_rows(fixture, "state_documents").await, 6);
    let mut writing = fixture.change().await;
    writing.cluster_delete(one.id).await.unwrap();
    writing.states_gc().await.unwrap();
    commit(writing).await;
    for table in ["applied_states", "state_snapshots", "state_documents"] {
        assert_eq!(n_rows(fixture, table).await, 0, "{table}");
    }
}

async fn last_successful_run_of_the_graph_type_counts(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await;
    let graph = graph_type("default");
    let base = NewRun {
        cluster_id: Some(one.id),
        graph_type: Some(graph.clone()),
        status: RunStatus::Ready,
        dry_run: false,
        ..new_run("")
    };
    assert_eq!(writing.last_applied_at(one.id, &graph).await.unwrap(), None);
    let at = |micros: i64| Some(stoker_model::Micros(micros));
    let runs = [
        NewRun { uuid: "1".to_owned(), ended_at: at(10), ..base.clone() },
        NewRun { uuid: "2".to_owned(), ended_at: at(20), ..base.clone() },
        NewRun { uuid: "3".to_owned(), ended_at: at(30), status: RunStatus::Error, ..base.clone() },
        NewRun { uuid: "4".to_owned(), ended_at: at(40), dry_run: true, ..base.clone() },
        NewRun { uuid: "5".to_owned(), ended_at: at(50), graph_type: Some(graph_type("other")), ..base },
    ];
    for run in &runs {
        writing.run_create(run).await.unwrap();
    }
    assert_eq!(writing.last_applied_at(one.id, &graph).await.unwrap(), at(20));
    commit(writing).await;
}

async fn machines_of_agents_are_replaced(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let uid = AgentUid::from("7");
    let first = AgentMachine { uid: uid.clone(), journal_id: Some("j".to_owned()), machine_id: None };
    assert_eq!(writing.agent_machine(&uid).await.unwrap(), None);
    writing.agent_machine_put(&first).await.unwrap();
    assert_eq!(writing.agent_machine(&uid).await.unwrap().as_ref(), Some(&first));
    let second = AgentMachine { journal_id: None, machine_id: Some("m".to_owned()), ..first };
    writing.agent_machine_put(&second).await.unwrap();
    assert_eq!(writing.agent_machine(&uid).await.unwrap(), Some(second.clone()));
    writing.agent_machine_delete(&uid).await.unwrap();
    assert_eq!(writing.agent_machine(&uid).await.unwrap(), None);
    commit(writing).await;
    fixture.store.agent_machine_note(&second, Micros(1)).await.unwrap();
    let mut reading = fixture.store.read().await.unwrap();
    assert_eq!(reading.agent_machine(&uid).await.unwrap(), Some(second));
}

on_both![
    invalidation_deletes_rows_in_scope,
    last_successful_run_of_the_graph_type_counts,
    late_result_taints_later_attempts_only,
    machines_of_agents_are_replaced,
    repositories_are_listed,
    snapshots_are_shared_and_collected,
    states_are_separate_per_graph_type_and_cluster,
    taint_stays_until_its_run_succeeds,
];
