//! Builders of releases, clusters, nodes, runs and plugins for tests.

use axum::body::Body;
use serde_json::{Value, json};
use stoker_model::{
    ClusterId, JsonMap, Micros, NewPlugin, NewRelease, NewRun, Plugin, ReleaseState, Run, RunName, RunStatus,
};
use stoker_store::{List, RunFilter};

use crate::fixtures::{begin_write, commit};
use crate::support::{Reply, TestServer};

pub(crate) fn map(value: Value) -> JsonMap {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is not a map"),
    }
}

pub(crate) fn release_body() -> NewRelease {
    NewRelease {
        name: "R".to_owned(),
        version: "mitaka-9.0".to_owned(),
        description: None,
        operating_system: "Ubuntu".to_owned(),
        state: ReleaseState::Available,
        modes_metadata: map(json!({"ha_compact": {}, "multinode": {}})),
        roles_metadata: map(json!({
            "controller": {"name": "Controller", "conflicts": ["compute"]},
            "compute": {"name": "Compute"},
            "ceph-osd": {"name": "Ceph"},
        })),
        tags_metadata: JsonMap::new(),
        volumes_roles_mapping: JsonMap::new(),
        attributes_metadata: map(json!({
            "editable": {
                "common": {
                    "metadata": {"label": "Common", "weight": 10},
                    "debug": {"type": "checkbox", "value": false},
                    "puppet": {"type": "text", "value": "http://{settings.MASTER_IP}/{cluster.id}"},
                },
                "external": {
                    "metadata": {"label": "External", "always_editable": true},
                    "dns": {"type": "text_list", "value": {"generator": "from_settings", "generator_arg": "DNS_UPSTREAM"}},
                },
                "storage": {"fsid": {"type": "hidden", "value": {"generator": "uuid4"}}},
            },
            "generated": {"mysql": {"password": {"generator": "password"}}},
        })),
        networks_metadata: JsonMap::new(),
        volumes_metadata: JsonMap::new(),
        wizard_metadata: JsonMap::new(),
        components_metadata: Vec::new(),
        required_component_types: Vec::new(),
        extensions: vec!["volume_manager".to_owned()],
        extra: JsonMap::new(),
    }
}

pub(crate) async fn create_release_from(server: &TestServer, body: NewRelease) -> i64 {
    let mut transaction = begin_write(server).await;
    let release = transaction.release_create(&body).await.unwrap();
    commit(transaction).await;
    release.id.0
}

pub(crate) async fn create_release(server: &TestServer) -> i64 {
    create_release_from(server, release_body()).await
}

/// Creates a release and a cluster of it.
pub(crate) async fn create_cluster(server: &TestServer) -> i64 {
    let release_id = create_release(server).await;
    create_cluster_of(server, release_id, "demo").await
}

pub(crate) async fn create_cluster_of(server: &TestServer, release_id: i64, name: &str) -> i64 {
    let body = json!({"name": name, "release_id": release_id});
    id(&server.post("clusters/", &body).await.expect(201))
}

pub(crate) async fn create_node(server: &TestServer, number: u8) -> i64 {
    let body = json!({"mac": format!("52:54:00:00:00:{number:02x}"), "status": "discover"});
    id(&server.post("nodes/", &body).await.expect(201))
}

pub(crate) fn id(value: &Value) -> i64 {
    value["id"].as_i64().expect("an id")
}

pub(crate) async fn create_run(
    server: &TestServer,
    cluster_id: Option<i64>,
    name: RunName,
    status: RunStatus,
) -> Run {
    create_child_run(server, cluster_id, name, status, None).await
}

pub(crate) async fn create_child_run(
    server: &TestServer,
    cluster_id: Option<i64>,
    name: RunName,
    status: RunStatus,
    parent: Option<&Run>,
) -> Run {
    let mut transaction = begin_write(server).await;
    let n_runs = transaction.run_list(&RunFilter::default(), &List::default()).await.unwrap().total;
    let new = NewRun {
        uuid: format!("uuid-{n_runs}"),
        parent_id: parent.map(|run| run.id),
        cluster_id: cluster_id.map(ClusterId),
        name,
        status,
        progress: 0,
        message: None,
        result: json!({}),
        graph_type: None,
        dry_run: false,
        started_at: Some(Micros(1_769_842_800_123_456)),
        ended_at: None,
    };
    let run = transaction.run_create(&new).await.unwrap();
    commit(transaction).await;
    run
}

pub(crate) async fn create_plugin(
    server: &TestServer,
    name: &str,
    version: &str,
    attributes: Value,
) -> Plugin {
    let new = NewPlugin {
        name: name.to_owned(),
        title: format!("The {name}"),
        version: version.to_owned(),
        package_version: "4.0.0".to_owned(),
        description: None,
        homepage: None,
        is_hotpluggable: name.starts_with("hot"),
        fuel_version: Vec::new(),
        groups: Vec::new(),
        authors: Vec::new(),
        licenses: Vec::new(),
        releases: vec![json!({"os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha"]})],
        attributes_metadata: map(attributes),
        roles_metadata: map(json!({format!("{name}-role"): {"name": name}})),
        tags_metadata: JsonMap::new(),
        volumes_metadata: JsonMap::new(),
        components_metadata: Vec::new(),
        tasks: Vec::new(),
        extra: JsonMap::new(),
    };
    let mut transaction = begin_write(server).await;
    let plugin = transaction.plugin_create(&new).await.unwrap();
    commit(transaction).await;
    plugin
}

/// Sends a request as the admin with one additional header.
pub(crate) async fn send_with_header(
    server: &TestServer,
    (method, path): (&str, &str),
    (name, value): (&str, &str),
    body: &str,
) -> Reply {
    let request = server.request(method, path).header(name, value);
    server.send(request.body(Body::from(body.to_owned())).unwrap()).await
}
