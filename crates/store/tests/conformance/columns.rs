//! Each field is stored in a separate column. In these records every text is the name of its column, so that
//! plain SQL reveals a swap of two columns. Round trips alone would not: writing and reading could be swapped
//! alike.

use serde_json::json;
use stoker_model::{
    Actor, AgentMachine, AgentUid, AppliedMark, AppliedSuccess, AuditChange, EncryptedContents,
    GraphMetadata, HistoryRecord, HistoryStatus, JsonMap, LinkBody, LinkOwner, Micros, ModuleBody, NewNode,
    NewPlugin, NewRelease, NodeFacts, Owner, ServerRecord, SnapshotId, TaintCause, TaskReport,
};

use crate::fixture::{Fixture, NOW, cluster, commit, graph_type, map, n_rows, new_plugin, new_release, run};

async fn texts_are_in_the_columns_of_their_names(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let release = writing
        .release_create(&NewRelease {
            name: "name".to_owned(),
            version: "version".to_owned(),
            description: Some("description".to_owned()),
            operating_system: "operating_system".to_owned(),
            ..new_release("name")
        })
        .await
        .unwrap();
    let plugin = NewPlugin {
        name: "name".to_owned(),
        title: "title".to_owned(),
        version: "version".to_owned(),
        package_version: "package_version".to_owned(),
        description: Some("description".to_owned()),
        homepage: Some("homepage".to_owned()),
        ..new_plugin("name")
    };
    let plugin = writing.plugin_create(&plugin).await.unwrap();
    let new = NewNode {
        mac: "mac".to_owned(),
        ip: Some("ip".to_owned()),
        name: Some("name".to_owned()),
        hostname: Some("hostname".to_owned()),
        manufacturer: Some("manufacturer".to_owned()),
        platform_name: Some("platform_name".to_owned()),
        os_platform: Some("os_platform".to_owned()),
        labels: JsonMap::new(),
        meta: JsonMap::new(),
        facts: JsonMap::new(),
    };
    let mut node = writing.node_create(&new).await.unwrap();
    node.error_msg = Some("error_msg".to_owned());
    node.kernel_params = Some("kernel_params".to_owned());
    node.agent_checksum = Some("agent_checksum".to_owned());
    node.roles = vec!["roles".to_owned()];
    node.pending_roles = vec!["pending_roles".to_owned()];
    let node = writing.node_update(&node).await.unwrap();
    // A bulk update lists some of the columns again.
    let facts = |source: &str| map(json!({"from": source}));
    let facts = NodeFacts { node_id: node.id, uploaded: facts("uploaded"), reported: facts("reported") };
    writing.node_facts_put(&facts).await.unwrap();
    writing.nodes_put_outcome(&[node]).await.unwrap();
    let link = LinkBody {
        title: "title".to_owned(),
        url: "url".to_owned(),
        description: Some("description".to_owned()),
        hidden: false,
    };
    writing.link_create(LinkOwner::Plugin(plugin.id), &link).await.unwrap();
    let metadata = GraphMetadata {
        name: Some("verbose_name".to_owned()),
        node_filter: Some("node_filter".to_owned()),
        ..Default::default()
    };
    let owner = Owner::Release(release.id);
    let graph =
        writing.graph_create(owner, &graph_type("type"), &GraphMetadata::default(), &[]).await.unwrap();
    writing.graph_update(graph.id, 1, &metadata, None).await.unwrap();
    let module = ModuleBody {
        name: "name".to_owned(),
        module_type: "module_type".to_owned(),
        description: Some("description".to_owned()),
        tenant_id: None,
        datastore: Some("datastore".to_owned()),
        datastore_version: Some("datastore_version".to_owned()),
        auto_apply: false,
        visible: true,
        live_update: false,
        priority_apply: false,
        apply_order: 5,
        is_admin: false,
        md5: "md5".to_owned(),
    };
    let sealed = EncryptedContents { key: "key_name".to_owned(), bytes: b"contents".to_vec() };
    writing.module_create("uuid", &module, &sealed).await.unwrap();
    commit(writing).await;

    for rows in [
        "node_facts WHERE uploaded = '{\"from\":\"uploaded\"}' AND reported = '{\"from\":\"reported\"}'",
        "releases WHERE name = 'name' AND version = 'version' AND description = 'description' \
         AND operating_system = 'operating_system'",
        "plugins WHERE name = 'name' AND title = 'title' AND version = 'version' \
         AND package_version = 'package_version' AND description = 'description' AND homepage = 'homepage'",
        "nodes WHERE mac = 'mac' AND ip = 'ip' AND name = 'name' AND hostname = 'hostname' \
         AND manufacturer = 'manufacturer' AND platform_name = 'platform_name' AND os_platform = 'os_platform' \
         AND error_msg = 'error_msg' AND kernel_params = 'kernel_params' AND agent_checksum = 'agent_checksum' \
         AND roles = '[\"roles\"]' AND pending_roles = '[\"pending_roles\"]'",
        "links WHERE title = 'title' AND url = 'url' AND description = 'description'",
        "deployment_graphs WHERE verbose_name = 'verbose_name' AND node_filter = 'node_filter'",
        "modules WHERE uuid = 'uuid' AND name = 'name' AND module_type = 'module_type' \
         AND description = 'description' AND datastore = 'datastore' AND datastore_version = 'datastore_version' \
         AND md5 = 'md5'",
        "module_contents WHERE key_name = 'key_name'",
    ] {
        assert_eq!(n_rows(fixture, rows).await, 1, "{rows}");
    }
}

async fn texts_of_runs_and_servers_are_in_the_columns_of_their_names(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "c").await;
    let run = run(&mut writing, "u").await;
    let history = HistoryRecord {
        run_id: run.id,
        task_name: "task_name".to_owned(),
        node_id: "node_id".to_owned(),
        status: HistoryStatus::Ready,
        started_at: None,
        ended_at: None,
        task: map(json!({"task": 1})),
        custom: map(json!({"custom": 1})),
        report: TaskReport::of_summary(map(json!({"summary": 1}))),
    };
    writing.history_put(&[history]).await.unwrap();
    let ids = writing.documents_put(&[stoker_store::StateDocument::new(JsonMap::new())]).await.unwrap();
    let graph_type = graph_type("graph_type");
    let mark = AppliedMark {
        node_uid: "node_uid".to_owned(),
        task_name: "task_name".to_owned(),
        cause: TaintCause::InFlight,
    };
    writing.applied_mark(cluster.id, &graph_type, run.id, &[mark]).await.unwrap();
    let success = AppliedSuccess {
        node_uid: "node_uid".to_owned(),
        task_name: "task_name".to_owned(),
        document_id: ids[0],
        inputs: Some("inputs".to_owned()),
        inputs_id: None,
    };
    writing.applied_put(cluster.id, &graph_type, run.id, SnapshotId(1), &[success]).await.unwrap();
    let machine = AgentMachine {
        uid: AgentUid::from("uid"),
        journal_id: Some("journal_id".to_owned()),
        machine_id: Some("machine_id".to_owned()),
    };
    writing.agent_machine_put(&machine).await.unwrap();
    commit(writing).await;
    let member = ServerRecord {
        id: "id".to_owned(),
        name: "name".to_owned(),
        address: "address".to_owned(),
        version: "version".to_owned(),
        receives_bus: true,
        started_at: Micros(1),
        heartbeat_at: Micros(2),
    };
    fixture.store.server_heartbeat(&member).await.unwrap();
    let actor =
        Actor { user_id: None, user_name: "user_name".to_owned(), address: Some("address".to_owned()) };
    let writing = fixture.store.begin_write(&actor, NOW).await.unwrap();
    let change = AuditChange { action: "action", target: "target".to_owned(), detail: json!({}) };
    writing.commit(change).await.unwrap();
    for rows in [
        "run_history WHERE task_name = 'task_name' AND node_id = 'node_id' AND task = '{\"task\":1}' \
         AND custom = '{\"custom\":1}' AND summary = '{\"summary\":1}'",
        "applied_states WHERE graph_type = 'graph_type' AND task_name = 'task_name' AND node_uid = 'node_uid' \
         AND inputs = 'inputs'",
        "agent_machines WHERE uid = 'uid' AND journal_id = 'journal_id' AND machine_id = 'machine_id'",
        "servers WHERE id = 'id' AND name = 'name' AND address = 'address' AND version = 'version' \
         AND started_at = 1 AND seen_at = 2",
        "audit_entries WHERE user_name = 'user_name' AND address = 'address' AND action = 'action' \
         AND target = 'target'",
    ] {
        assert_eq!(n_rows(fixture, rows).await, 1, "{rows}");
    }
}

on_both!(
    texts_are_in_the_columns_of_their_names,
    texts_of_runs_and_servers_are_in_the_columns_of_their_names,
);
