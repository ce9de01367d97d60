use serde_json::json;
use sqlx::{Connection as _, Row as _};
use stoker_model::{AppliedMark, AppliedSuccess, DocumentId, Json, JsonMap, NewPlan, RunId, TaintCause};
use stoker_store::{Database, StateDocument};

use crate::fixture::{Fixture, cluster, commit, graph_type, map, n_rows};

/// Returns the state of a small fleet: the common document and one document per node.
fn fleet(n_nodes: usize) -> Vec<JsonMap> {
    let pad = |n_bytes: usize| "x".repeat(n_bytes);
    let records: Vec<Json> =
        (0..n_nodes).map(|id| json!({"uid": id.to_string(), "role": "compute"})).collect();
    let settings: JsonMap = (0..40).map(|id| (format!("s{id}"), json!({"value": pad(700)}))).collect();
    let common =
        json!({"nodes": records, "settings": settings, "debug": false, "cluster": {"status": "new"}});
    let node = |id: usize| {
        map(json!({
            "uid": id.to_string(),
            "status": "ready",
            "network_scheme": {"id": id, "pad": pad(2000)},
            "facts": {"kernel": "6.1", "pad": pad(3000)},
        }))
    };
    std::iter::once(map(common)).chain((0..n_nodes).map(node)).collect()
}

/// Returns the total rows and bytes of stored states.
async fn stored(fixture: &Fixture) -> (i64, i64) {
    let sql = "SELECT CAST(count(*) AS BIGINT), CAST(coalesce(sum(n), 0) AS BIGINT) FROM (\
               SELECT length(content) + 64 AS n FROM state_parts UNION ALL \
               SELECT length(small) + 64 AS n FROM state_documents UNION ALL \
               SELECT length(path) + 16 AS n FROM state_document_parts) AS sizes";
    match &fixture.database {
        Database::Sqlite { path } => {
            let mut connection = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
            let row = sqlx::query(sql).fetch_one(&mut connection).await.unwrap();
            (row.get(0), row.get(1))
        }
        Database::Postgres { url } => {
            let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
            let row = sqlx::query(sql).fetch_one(&mut connection).await.unwrap();
            (row.get(0), row.get(1))
        }
    }
}

async fn put(fixture: &Fixture, documents: &[JsonMap]) -> Vec<DocumentId> {
    let mut writing = fixture.change().await;
    let documents: Vec<StateDocument> = documents.iter().cloned().map(StateDocument::new).collect();
    let ids = writing.documents_put(&documents).await.unwrap();
    commit(writing).await;
    ids
}

async fn documents_round_trip(fixture: &Fixture) {
    let mut documents = fleet(70);
    documents.push(map(json!({"deep": {"a": {"b": "y".repeat(9000)}, "nul\u{0}": "a\u{0}b"}, "é": 1.5e300})));
    documents.push(JsonMap::new());
    documents.push(documents[1].clone());
    let ids = put(fixture, &documents).await;
    assert_eq!(ids[1], ids[ids.len() - 1]);
    let mut session = fixture.read().await;
    let mut requested = ids.clone();
    requested.push(DocumentId(9999));
    let read = session.documents_get(&requested).await.unwrap();
    assert_eq!(read.len(), documents.len() - 1);
    for (id, document) in ids.iter().zip(&documents) {
        assert_eq!(&read[id], document);
    }
    assert!(session.documents_get(&[]).await.unwrap().is_empty());
}

async fn unchanged_content_is_deduplicated(fixture: &Fixture) {
    let mut documents = fleet(50);
    let ids = put(fixture, &documents).await;
    let (n_rows_before, n_bytes_before) = stored(fixture).await;
    assert_eq!(put(fixture, &documents).await, ids);
    assert_eq!(stored(fixture).await, (n_rows_before, n_bytes_before));
    // One key of one node changed.
    documents[7]["network_scheme"]["pad"] = json!("y".repeat(2000));
    let later = put(fixture, &documents).await;
    assert_eq!(ids.iter().zip(&later).filter(|(old, new)| old != new).count(), 1);
    let (n_rows_after, n_bytes_after) = stored(fixture).await;
    // New rows: the changed piece, the document, and its links to two pieces.
    assert_eq!(n_rows_after - n_rows_before, 4);
    let n_bytes = n_bytes_after - n_bytes_before;
    assert!((2000..2600).contains(&n_bytes), "{n_bytes} of {n_bytes_before}");
    // One setting of all nodes changed.
    documents[0]["settings"]["s3"] = json!({"value": "z".repeat(700)});
    put(fixture, &documents).await;
    let (_, n_bytes_last) = stored(fixture).await;
    let n_bytes = n_bytes_last - n_bytes_after;
    assert!((700..5000).contains(&n_bytes), "{n_bytes}");
}

async fn unreferenced_documents_are_collected(fixture: &Fixture) {
    let documents = fleet(5);
    let ids = put(fixture, &documents).await;
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "one").await;
    let graph_type = graph_type("default");
    let mark =
        AppliedMark { node_uid: "1".to_owned(), task_name: "a".to_owned(), cause: TaintCause::InFlight };
    writing.applied_mark(cluster.id, &graph_type, RunId(1), &[mark]).await.unwrap();
    let plan = NewPlan {
        cluster_id: cluster.id,
        graph_type: graph_type.clone(),
        parent_id: None,
        request: json!({}),
        n_run: 1,
        n_skip: 0,
        inputs: json!({}),
        graph_id: ids[0],
        common_id: ids[0],
        nodes: Vec::new(),
        document: Vec::new(),
    };
    let plan = writing.plan_create(&plan).await.unwrap().id;
    let snapshot = writing.plan_snapshot_put(plan, ids[0], ids[0], None, None).await.unwrap();
    let success = AppliedSuccess {
        task_name: "a".to_owned(),
        node_uid: "1".to_owned(),
        document_id: ids[2],
        inputs: None,
        inputs_id: None,
    };
    writing.applied_put(cluster.id, &graph_type, RunId(1), snapshot, &[success]).await.unwrap();
    let collected = writing.states_gc().await.unwrap();
    assert_eq!(collected.n_documents, 4);
    // Each node has a separate scheme; all nodes share one facts piece.
    assert_eq!(collected.n_parts, 4);
    assert_eq!(writing.states_gc().await.unwrap(), Default::default());
    commit(writing).await;
    let mut session = fixture.read().await;
    let remaining = session.documents_get(&[ids[0], ids[2]]).await.unwrap();
    assert_eq!((&remaining[&ids[0]], &remaining[&ids[2]]), (&documents[0], &documents[2]));
    drop(session);
    let mut writing = fixture.change().await;
    writing.cluster_delete(cluster.id).await.unwrap();
    writing.states_gc().await.unwrap();
    commit(writing).await;
    for table in ["state_documents", "state_document_parts", "state_parts", "applied_states"] {
        assert_eq!(n_rows(fixture, table).await, 0, "{table}");
    }
}

on_both![documents_round_trip, unchanged_content_is_deduplicated, unreferenced_documents_are_collected,];
