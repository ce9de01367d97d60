use std::collections::BTreeMap;

use serde_json::json;
use stoker_model::{
    ClusterId, DocumentId, Micros, NewPlan, NodeId, PlanId, RunId, SuccessGroup, TaskSuccess,
};
use stoker_store::{Database, List, SortOrder, StateDocument, StoreError};

use crate::fixture::{Fixture, NOW, cluster, commit, graph_type, map, n_rows, node};

fn new_plan(cluster_id: ClusterId, common_id: DocumentId) -> NewPlan {
    NewPlan {
        cluster_id,
        graph_type: graph_type("default"),
        parent_id: None,
        request: json!({"force": true}),
        n_run: 3,
        n_skip: 4,
        inputs: json!({"graph": "abc"}),
        graph_id: common_id,
        common_id,
        nodes: vec![
            ("2".to_owned(), common_id),
            ("1".to_owned(), common_id),
            ("master".to_owned(), common_id),
        ],
        document: vec![0, 255, 1, 2],
    }
}

async fn plans_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let ids = writing.documents_put(&[StateDocument::new(map(json!({"a": 1})))]).await.unwrap();
    let first = writing.plan_create(&new_plan(one.id, ids[0])).await.unwrap();
    let child = NewPlan { parent_id: Some(first.id), n_run: 1, ..new_plan(one.id, ids[0]) };
    let child = writing.plan_create(&child).await.unwrap();
    let other = writing.plan_create(&new_plan(two.id, ids[0])).await.unwrap();
    assert_error!(
        writing.plan_create(&new_plan(ClusterId(99), ids[0])).await,
        StoreError::NotFound { what: "cluster" }
    );
    let orphan = NewPlan { parent_id: Some(PlanId(99)), ..new_plan(one.id, ids[0]) };
    assert_error!(writing.plan_create(&orphan).await, StoreError::NotFound { what: "plan" });
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.plan_get(first.id).await.unwrap().as_ref(), Some(&first));
    assert_eq!(
        (first.created_at, first.created_by.as_str(), first.n_run, first.n_skip),
        (NOW, "stoker", 3, 4)
    );
    assert_eq!(session.plan_get(PlanId(99)).await.unwrap(), None);
    assert_eq!(session.plan_document(first.id).await.unwrap(), Some(vec![0, 255, 1, 2]));
    assert_eq!(session.plan_document(PlanId(99)).await.unwrap(), None);
    assert_eq!(session.plan_inputs(first.id).await.unwrap(), Some(json!({"graph": "abc"})));
    assert_eq!(session.plan_inputs(PlanId(99)).await.unwrap(), None);
    let nodes = session.plan_nodes(first.id).await.unwrap();
    assert_eq!(nodes.iter().map(|(uid, _)| uid.as_str()).collect::<Vec<_>>(), ["1", "2", "master"]);
    let newest = List {
        limit: Some(1),
        order_by: vec![SortOrder { field: "id".to_owned(), descending: true }],
        ..List::default()
    };
    let page = session.plan_list(one.id, &newest).await.unwrap();
    assert_eq!((page.items, page.total), (vec![child.clone()], 2));
    assert_eq!(
        session.plan_list(two.id, &List::default()).await.unwrap().items,
        std::slice::from_ref(&other)
    );
    drop(session);
    let mut writing = fixture.change().await;
    assert!(writing.plan_delete(first.id).await.unwrap());
    assert!(!writing.plan_delete(first.id).await.unwrap());
    assert_eq!(writing.plan_get(child.id).await.unwrap(), None);
    assert!(writing.documents_get(&ids).await.unwrap().contains_key(&ids[0]));
    assert_eq!(writing.plans_expire(NOW).await.unwrap(), 0);
    assert_eq!(writing.plans_expire(Micros(NOW.0 + 1)).await.unwrap(), 1);
    assert_eq!(writing.states_gc().await.unwrap().n_documents, 1);
    commit(writing).await;
    for table in ["plans", "plan_nodes", "state_documents"] {
        assert_eq!(n_rows(fixture, table).await, 0, "{table}");
    }
}

async fn trigger_rejects_plan_updates(fixture: &Fixture) {
    use sqlx::Connection as _;
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await;
    writing.plan_create(&new_plan(one.id, DocumentId(1))).await.unwrap();
    commit(writing).await;
    let sql = "UPDATE plans SET n_run = 0";
    let error = match &fixture.database {
        Database::Sqlite { path } => {
            let mut connection = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
            sqlx::query(sql).execute(&mut connection).await.map(drop).unwrap_err()
        }
        Database::Postgres { url } => {
            let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
            sqlx::query(sql).execute(&mut connection).await.map(drop).unwrap_err()
        }
    };
    assert!(error.to_string().contains("a plan never changes"), "{error}");
}

fn success(task: &str, uid: &str, common: i64, document: i64) -> TaskSuccess {
    TaskSuccess {
        task_name: task.to_owned(),
        node_uid: uid.to_owned(),
        common_id: DocumentId(common),
        document_id: DocumentId(document),
        run_id: Some(RunId(1)),
    }
}

fn past(uid: &str, common: i64, document: i64, tasks: &[&str]) -> SuccessGroup {
    SuccessGroup {
        node_uid: uid.to_owned(),
        common_id: DocumentId(common),
        document_id: DocumentId(document),
        tasks: tasks.iter().map(|task| (*task).to_owned()).collect(),
    }
}

async fn last_success_wins(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let first: Vec<TaskSuccess> = ["c", "a", "b"]
        .iter()
        .flat_map(|task| {
            [success(task, "1", 1, 11), success(task, "2", 1, 12), success(task, "master", 1, 13)]
        })
        .collect();
    writing.success_put(one.id, &first).await.unwrap();
    writing.success_put(two.id, &[success("a", "1", 7, 7)]).await.unwrap();
    writing
        .success_put(one.id, &[success("b", "1", 1, 1), success("b", "1", 2, 21), success("b", "1", 3, 31)])
        .await
        .unwrap();
    writing.success_put(one.id, &[]).await.unwrap();
    let dangling = writing.success_put(ClusterId(99), &first).await;
    assert_error!(dangling, StoreError::NotFound { what: "cluster" });
    commit(writing).await;
    let mut session = fixture.read().await;
    let rows = session
        .last_successful_states(one.id, &["a", "b", "c", "d"], &["1", "2", "master", "4"])
        .await
        .unwrap();
    let expected = [
        past("1", 1, 11, &["a", "c"]),
        past("1", 3, 31, &["b"]),
        past("2", 1, 12, &["a", "b", "c"]),
        past("master", 1, 13, &["a", "b", "c"]),
    ];
    assert_eq!(rows, expected);
    assert_eq!(session.last_successful_states(one.id, &["b"], &["1"]).await.unwrap(), expected[1..2]);
    assert_eq!(session.last_successful_states(one.id, &[], &["1"]).await.unwrap(), []);
    assert_eq!(
        session.last_successful_states(two.id, &["a"], &["1"]).await.unwrap(),
        [past("1", 7, 7, &["a"])]
    );
    drop(session);
    let mut writing = fixture.change().await;
    assert_eq!(writing.successes_delete(one.id, &["1", "9"]).await.unwrap(), 3);
    assert_eq!(writing.last_successful_states(one.id, &["a", "b"], &["1"]).await.unwrap(), []);
    commit(writing).await;
}

async fn repository_successes_are_listed(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    assert_eq!(writing.successes_of_repositories(one.id).await.unwrap(), []);
    let all = [
        success("b-repository", "1", 1, 11),
        success("b-repository", "2", 1, 12),
        success("b-repository", "3", 2, 13),
        success("a-repository", "1", 3, 11),
        success("a-repository-update", "1", 4, 11),
        success("repository", "1", 5, 11),
    ];
    writing.success_put(one.id, &all).await.unwrap();
    writing.success_put(two.id, &[success("c-repository", "1", 9, 9)]).await.unwrap();
    commit(writing).await;
    let rows = fixture.read().await.successes_of_repositories(one.id).await.unwrap();
    let rows: Vec<(&str, i64)> = rows.iter().map(|(task, id)| (task.as_str(), id.0)).collect();
    assert_eq!(rows, [("a-repository", 3), ("b-repository", 1), ("b-repository", 2)]);
}

async fn successes_are_grouped_by_state(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await;
    let (tasks, nodes): (Vec<String>, Vec<String>) = (
        (0..60).map(|task| format!("task-{task}")).collect(),
        (1..=300).map(|uid| uid.to_string()).collect(),
    );
    let all: Vec<TaskSuccess> = nodes
        .iter()
        .zip(100..)
        .flat_map(|(uid, document)| tasks.iter().map(move |task| success(task, uid, 1, document)))
        .collect();
    writing.success_put(one.id, &all).await.unwrap();
    commit(writing).await;
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    let rows = fixture.read().await.last_successful_states(one.id, &tasks, &nodes).await.unwrap();
    assert_eq!(rows.len(), 300);
    assert!(rows.iter().all(|past| past.tasks.len() == 60));
}

async fn deleting_node_deletes_its_primaries(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await;
    let nodes =
        [node(&mut writing, "00:00:00:00:00:01").await, node(&mut writing, "00:00:00:00:00:02").await];
    let of = |pairs: &[(&str, NodeId)]| -> BTreeMap<String, NodeId> {
        pairs.iter().map(|(tag, id)| ((*tag).to_owned(), *id)).collect()
    };
    let first = of(&[("db", nodes[0].id), ("web", nodes[1].id)]);
    writing.primaries_put(one.id, &first).await.unwrap();
    assert_eq!(writing.primaries_get(one.id).await.unwrap(), first);
    let second = of(&[("db", nodes[1].id)]);
    writing.primaries_put(one.id, &second).await.unwrap();
    assert_eq!(writing.primaries_get(one.id).await.unwrap(), second);
    assert_error!(
        writing.primaries_put(ClusterId(99), &second).await,
        StoreError::NotFound { what: "cluster" }
    );
    writing.node_delete(nodes[1].id).await.unwrap();
    assert_eq!(writing.primaries_get(one.id).await.unwrap(), BTreeMap::new());
    commit(writing).await;
}

on_both![
    deleting_node_deletes_its_primaries,
    last_success_wins,
    plans_round_trip,
    repository_successes_are_listed,
    successes_are_grouped_by_state,
    trigger_rejects_plan_updates,
];
