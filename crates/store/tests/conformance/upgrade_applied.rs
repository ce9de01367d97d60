//! Conversion of successes, as recorded by version 19, to applied states.

use stoker_model::{AppliedGroup, ClusterId, DocumentId, GraphType, SnapshotId};
use stoker_store::{Database, Session, Store};
use stoker_testkit::{PrivatePostgres, TempFolder};

use crate::fixture::graph_type;
use crate::upgrade::{postgres_of, sqlite_of};

const BEFORE_APPLIED_STATES: i64 = 19;

/// Nodes 1 and 2 are deployed, 3 is new, 4 is being reinstalled. Run 11 executed the graph `default` with plan 21,
/// run 12 the graph `backup` with plan 22; the runs 13 and 14 were deleted. `shared` is a task of both graph types.
const ROWS: &str = "
INSERT INTO tenants (id, generation, name, description, enabled, created_at) VALUES (1, 1, 't', NULL, {yes}, 7);
INSERT INTO releases (id, generation, name, version, operating_system, state, modes_metadata, roles_metadata,
    tags_metadata, volumes_roles_mapping, attributes_metadata, networks_metadata, volumes_metadata, wizard_metadata,
    components_metadata, required_component_types, extensions, extra, created_at)
    VALUES (1, 1, 'r', '1', 'os', 'available', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '[]', '[]', '[]', '{}', 7);
INSERT INTO clusters (id, generation, tenant_id, release_id, name, status, mode, net_provider, components, ui_settings,
    roles_metadata, tags_metadata, volumes_roles_mapping, editable, generated, extensions, is_customized, is_locked,
    created_at)
    VALUES (1, 1, 1, 1, 'c', 'operational', 'ha_compact', 'neutron', '[]', '{}', '{}', '{}', '{}', '{}', '{}', '[]',
    {no}, {no}, 7);
INSERT INTO nodes (id, generation, cluster_id, name, mac, hostname, status, online, roles, pending_roles,
    pending_addition, pending_deletion, progress, labels, meta, attributes, facts, created_at) VALUES
    (1, 1, 1, 'n', '00:00:00:00:00:01', 'a', 'ready', {yes}, '[]', '[]', {no}, {no}, 100, '{}', '{}', '{}', '{}', 7),
    (2, 1, 1, 'n', '00:00:00:00:00:02', 'b', 'error', {yes}, '[]', '[]', {no}, {yes}, 100, '{}', '{}', '{}', '{}', 7),
    (3, 1, 1, 'n', '00:00:00:00:00:03', 'c', 'ready', {yes}, '[]', '[]', {yes}, {no}, 100, '{}', '{}', '{}', '{}', 7),
    (4, 1, 1, 'n', '00:00:00:00:00:04', 'd', 'provisioned', {yes}, '[]', '[]', {no}, {no}, 100, '{}', '{}', '{}', '{}', 7);
INSERT INTO deployment_graphs (id, generation) VALUES (1, 1), (2, 1), (3, 1);
INSERT INTO release_deployment_graphs (type, deployment_graph_id, release_id) VALUES ('default', 1, 1), ('backup', 2, 1);
INSERT INTO cluster_deployment_graphs (type, deployment_graph_id, cluster_id) VALUES ('default', 3, 1);
INSERT INTO deployment_graph_tasks (deployment_graph_id, task_name, position, _custom) VALUES
    (1, 'web', 1, '{}'), (3, 'web', 1, '{}'), (1, 'shared', 2, '{}'), (2, 'shared', 1, '{}'), (2, 'dump', 2, '{}');
INSERT INTO runs (id, generation, uuid, cluster_id, name, status, progress, result, graph_type, dry_run, is_hidden)
    VALUES (11, 1, 'a', 1, 'deployment', 'ready', 100, '{}', 'default', {no}, {no}),
    (12, 1, 'b', 1, 'deployment', 'ready', 100, '{}', 'backup', {no}, {no});
INSERT INTO plans (id, cluster_id, graph_type, created_at, created_by, request, n_run, n_skip, inputs, graph_id,
    common_id, document) SELECT 21, 1, 'default', 7, 'x', '{}', 1, 0, '{}', 31, 41, CAST('' AS {bytes})
    UNION ALL SELECT 22, 1, 'backup', 7, 'x', '{}', 1, 0, '{}', 32, 42, CAST('' AS {bytes});
INSERT INTO run_work (run_id, plan_id, options, lease_generation) VALUES (11, 21, '{}', 1), (12, 22, '{}', 1);
INSERT INTO successes (cluster_id, node_uid, task_name, common_id, document_id, run_id) VALUES
    (1, '1', 'web', 41, 51, 11), (1, '1', 'shared', 42, 51, 12), (1, '2', 'web', 41, 52, 13),
    (1, '2', 'shared', 41, 52, 13), (1, '2', 'dump', 42, 52, 14), (1, '3', 'web', 41, 53, 11),
    (1, '4', 'web', 41, 54, 11), (1, 'master', 'my-plugin-repository', 43, 55, 13),
    (1, '1', 'my-plugin-repository', 43, 51, NULL), (1, '99', 'web', 41, 56, 11);
";

async fn states(
    session: &mut Session,
    graph: &GraphType,
) -> Vec<(String, Vec<String>, i64, i64, Option<DocumentId>)> {
    let tasks = ["web", "shared", "dump", "my-plugin-repository"];
    let nodes = ["1", "2", "3", "4", "99", "master"];
    let groups = session.applied_groups(ClusterId(1), graph, &tasks, &nodes).await.unwrap();
    let ids: Vec<SnapshotId> = groups.iter().filter_map(|group| group.snapshot_id).collect();
    let snapshots = session.snapshots_get(&ids).await.unwrap();
    let row = |group: AppliedGroup| {
        assert_eq!((group.tainted_by, group.taint), (None, None));
        let snapshot = snapshots.iter().find(|snapshot| Some(snapshot.id) == group.snapshot_id).unwrap();
        assert_eq!((snapshot.sources_id, snapshot.settled_id), (None, None));
        let common = snapshot.common_id.0;
        (group.node_uid, group.tasks, common, group.document_id.unwrap().0, snapshot.graph_id)
    };
    let mut rows: Vec<_> = groups.into_iter().map(row).collect();
    rows.sort();
    rows
}

async fn assert_converted(database: &Database) {
    let store = Store::open(database).await.unwrap();
    let mut session = store.read().await.unwrap();
    let row = |uid: &str, task: &str, common: i64, own: i64, graph: Option<i64>| {
        (uid.to_owned(), vec![task.to_owned()], common, own, graph.map(DocumentId))
    };
    let expected = [
        row("1", "my-plugin-repository", 43, 51, None),
        row("1", "web", 41, 51, Some(31)),
        row("2", "web", 41, 52, None),
        row("99", "web", 41, 56, Some(31)),
        row("master", "my-plugin-repository", 43, 55, None),
    ];
    assert_eq!(states(&mut session, &graph_type("default")).await, expected);
    // `shared` on node 2 succeeded in a deleted run, and two graph types have a task of that name.
    let expected = [row("1", "shared", 42, 51, Some(32)), row("2", "dump", 42, 52, None)];
    assert_eq!(states(&mut session, &graph_type("backup")).await, expected);
    let repositories = session.applied_repositories(ClusterId(1)).await.unwrap();
    assert_eq!(repositories, [("my-plugin-repository".to_owned(), DocumentId(43))]);
    drop(session);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn successes_are_converted_on_sqlite() {
    let folder = TempFolder::new();
    let database = sqlite_of(&folder, BEFORE_APPLIED_STATES, &ROWS.replace("{bytes}", "BLOB")).await;
    Box::pin(assert_converted(&database)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn successes_are_converted_on_postgres() {
    let Some(postgres) = PrivatePostgres::start() else { return };
    let database = postgres_of(&postgres, BEFORE_APPLIED_STATES, &ROWS.replace("{bytes}", "BYTEA")).await;
    Box::pin(assert_converted(&database)).await;
}
