//! Test fixture: a store on either engine, and helpers that create records.

use serde_json::json;
use stoker_model::{
    Actor, AuditChange, Cluster, GraphType, Json, JsonMap, Micros, NewCluster, NewNode, NewNotification,
    NewPlugin, NewRelease, NewRun, NewTenant, NewUser, Node, Plugin, Release, ReleaseState, Role, Run,
    RunName, RunStatus, Task, Tenant, Topic, User,
};
use stoker_store::{Database, Session, Store, WriteTransaction};
use stoker_testkit::{TempFolder, TestDatabase};

pub(crate) const NOW: Micros = Micros(1_750_000_000_123_456);

pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) database: Database,
    pub(crate) folder: TempFolder,
    postgres: Option<TestDatabase>,
}

impl Fixture {
    pub(crate) async fn sqlite() -> Self {
        let folder = TempFolder::new();
        let database = Database::Sqlite { path: folder.file("stoker.db") };
        let store = Store::open(&database).await.unwrap();
        Self { store, database, folder, postgres: None }
    }

    pub(crate) async fn postgres() -> Option<Self> {
        let created = TestDatabase::create().await?;
        let database = created.database();
        let store = Store::open(&database).await.unwrap();
        Some(Self { store, database, folder: TempFolder::new(), postgres: Some(created) })
    }

    pub(crate) async fn remove(self) {
        self.store.close().await;
        if let Some(created) = self.postgres {
            created.drop_database();
        }
    }

    pub(crate) async fn read(&self) -> Session {
        self.store.read().await.unwrap()
    }

    pub(crate) async fn change(&self) -> WriteTransaction {
        self.store.begin_write(&Actor::server(), NOW).await.unwrap()
    }
}

/// Returns the number of rows in a table, including orphans, which no store method returns.
pub(crate) async fn n_rows(fixture: &Fixture, table: &'static str) -> i64 {
    use sqlx::{Connection as _, Row as _};
    let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    match &fixture.database {
        Database::Sqlite { path } => {
            let mut connection = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
            sqlx::query(sql).fetch_one(&mut connection).await.unwrap().get(0)
        }
        Database::Postgres { url } => {
            let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
            sqlx::query(sql).fetch_one(&mut connection).await.unwrap().get(0)
        }
    }
}

pub(crate) async fn commit(writing: WriteTransaction) {
    writing.commit(change("test.change")).await.unwrap();
}

pub(crate) fn change(action: &'static str) -> AuditChange {
    AuditChange { action, target: "test 1".to_owned(), detail: json!({"why": "a test"}) }
}

pub(crate) fn map(value: Json) -> JsonMap {
    match value {
        Json::Object(map) => map,
        other => panic!("not a map: {other}"),
    }
}

pub(crate) fn graph_type(name: &str) -> GraphType {
    GraphType::new(name).unwrap()
}

pub(crate) fn task(name: &str, fields: Json) -> Task {
    Task { name: name.to_owned(), fields: map(fields) }
}

pub(crate) fn new_release(name: &str) -> NewRelease {
    NewRelease {
        name: name.to_owned(),
        version: "mitaka-10.0".to_owned(),
        description: Some("a release".to_owned()),
        operating_system: "Ubuntu".to_owned(),
        state: ReleaseState::Available,
        modes_metadata: map(json!({"ha_compact": {"description": null}})),
        roles_metadata: map(json!({"controller": {"tags": ["a", "b"]}, "compute": {}})),
        tags_metadata: map(json!({"controller": {"has_primary": true}})),
        volumes_roles_mapping: map(json!({"compute": [{"id": "os", "size": "all"}]})),
        attributes_metadata: map(json!({"editable": {}, "generated": {"x": 1.5}})),
        networks_metadata: map(json!({"nova_network": []})),
        volumes_metadata: map(json!({"volumes": false})),
        wizard_metadata: map(json!({"Mode": 0})),
        components_metadata: vec![json!({"name": "hypervisor:qemu"}), json!(null)],
        required_component_types: vec!["hypervisor".to_owned(), "network".to_owned()],
        extensions: vec!["volume_manager".to_owned()],
        extra: map(json!({"own": [1, {"deep": [true]}]})),
    }
}

pub(crate) fn new_plugin(name: &str) -> NewPlugin {
    NewPlugin {
        name: name.to_owned(),
        title: "A plugin".to_owned(),
        version: "1.0.0".to_owned(),
        package_version: "5.0.0".to_owned(),
        description: None,
        homepage: Some("https://example.org".to_owned()),
        is_hotpluggable: true,
        fuel_version: vec!["9.0".to_owned()],
        groups: vec!["network".to_owned()],
        authors: vec!["Ängström".to_owned()],
        licenses: vec![],
        releases: vec![json!({"os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha"]})],
        attributes_metadata: map(json!({"metadata": {"weight": 70}})),
        roles_metadata: map(json!({})),
        tags_metadata: map(json!({"t": {}})),
        volumes_metadata: map(json!({"v": null})),
        components_metadata: vec![json!({"name": "network:x"})],
        tasks: vec![json!({"stage": "post_deployment/100"})],
        extra: map(json!({"unknown": true})),
    }
}

pub(crate) fn new_node(mac: &str) -> NewNode {
    NewNode {
        mac: mac.to_owned(),
        ip: Some("10.20.0.3".to_owned()),
        name: None,
        hostname: None,
        manufacturer: Some("KVM".to_owned()),
        platform_name: None,
        os_platform: Some("ubuntu".to_owned()),
        labels: map(json!({"rack": "1", "empty": null})),
        meta: map(json!({"interfaces": [], "memory": {"total": 17_179_869_184_i64}})),
        facts: map(json!({"kernel": "6.1"})),
    }
}

pub(crate) fn new_run(uuid: &str) -> NewRun {
    NewRun {
        uuid: uuid.to_owned(),
        parent_id: None,
        cluster_id: None,
        name: RunName::Deploy,
        status: RunStatus::Pending,
        progress: 0,
        message: None,
        result: json!([]),
        graph_type: None,
        dry_run: false,
        started_at: Some(NOW),
        ended_at: None,
    }
}

pub(crate) async fn tenant(writing: &mut WriteTransaction, name: &str) -> Tenant {
    let new = NewTenant { name: name.to_owned(), description: Some("t".to_owned()), enabled: true };
    writing.tenant_create(&new).await.unwrap()
}

pub(crate) async fn user(writing: &mut WriteTransaction, tenant: &Tenant, name: &str) -> User {
    let new = NewUser {
        tenant_id: tenant.id,
        name: name.to_owned(),
        roles: vec![Role::Operator, Role::Member],
        enabled: true,
        password_hash: "$argon2id$secret".to_owned(),
    };
    writing.user_create(&new).await.unwrap()
}

pub(crate) async fn release(writing: &mut WriteTransaction, name: &str) -> Release {
    writing.release_create(&new_release(name)).await.unwrap()
}

pub(crate) async fn plugin(writing: &mut WriteTransaction, name: &str) -> Plugin {
    writing.plugin_create(&new_plugin(name)).await.unwrap()
}

pub(crate) fn new_cluster(tenant: &Tenant, release: &Release, name: &str) -> NewCluster {
    NewCluster {
        tenant_id: tenant.id,
        release_id: release.id,
        name: name.to_owned(),
        mode: "ha_compact".to_owned(),
        net_provider: "neutron".to_owned(),
        net_segment_type: None,
        components: vec!["hypervisor:qemu".to_owned()],
        editable: map(json!({"common": {"debug": {"value": false}}})),
        generated: map(json!({"cookie": "x"})),
        merge_order: None,
        merge_mode: None,
    }
}

/// Creates a cluster with a tenant and a release.
pub(crate) async fn cluster(writing: &mut WriteTransaction, name: &str) -> Cluster {
    let tenant = tenant(writing, &format!("tenant of {name}")).await;
    let release = release(writing, &format!("release of {name}")).await;
    writing.cluster_create(&new_cluster(&tenant, &release, name)).await.unwrap()
}

pub(crate) async fn node(writing: &mut WriteTransaction, mac: &str) -> Node {
    writing.node_create(&new_node(mac)).await.unwrap()
}

pub(crate) async fn run(writing: &mut WriteTransaction, uuid: &str) -> Run {
    writing.run_create(&new_run(uuid)).await.unwrap()
}

/// Returns the notification for a node that went online or offline.
pub(crate) fn connection_notification(node: &Node) -> NewNotification {
    NewNotification {
        topic: if node.online { Topic::NodeBack } else { Topic::NodeLost },
        message: format!("node {}", node.id),
        cluster_id: node.cluster_id,
        run_id: None,
        node_id: Some(node.id),
        body: json!({"node": node.id.0}),
    }
}
