use std::collections::BTreeMap;

use serde_json::json;
use stoker_model::{ClusterId, DocumentId, Micros, NewPlan, NodeId, PlanId};
use stoker_store::{Database, List, SortOrder, StateDocument, StoreError};

use crate::fixture::{Fixture, NOW, cluster, commit, graph_type, map, n_rows, node, run};

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

/// The plan of a run must not be deleted by cascade with a plan that it follows.
async fn ancestors_of_used_plans_do_not_expire(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let one = cluster(&mut writing, "one").await;
    let first = writing.plan_create(&new_plan(one.id, DocumentId(1))).await.unwrap();
    let child = NewPlan { parent_id: Some(first.id), ..new_plan(one.id, DocumentId(1)) };
    let child = writing.plan_create(&child).await.unwrap();
    writing.plan_create(&new_plan(one.id, DocumentId(1))).await.unwrap();
    let run = run(&mut writing, "work").await;
    writing.run_work_create(run.id, &json!({"version": 1})).await.unwrap();
    commit(writing).await;
    let lease = fixture.store.run_lease_acquire(run.id, "a", NOW, NOW.plus_seconds(1)).await.unwrap();
    let mut writing = fixture.change().await;
    writing.run_work_plan(run.id, lease.unwrap(), child.id).await.unwrap();
    assert_eq!(writing.plans_expire(Micros(NOW.0 + 1)).await.unwrap(), 1);
    for id in [first.id, child.id] {
        assert!(writing.plan_get(id).await.unwrap().is_some(), "{id}");
    }
    commit(writing).await;
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
    ancestors_of_used_plans_do_not_expire,
    deleting_node_deletes_its_primaries,
    plans_round_trip,
    trigger_rejects_plan_updates,
];
