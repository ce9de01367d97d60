//! A store with a tenant and a release.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use stoker_model::{Actor, JsonMap, Micros, NewRelease, NewTenant, Release, ReleaseState, Tenant, TenantRef};
use stoker_services::clusters::ClusterRequest;
use stoker_services::error::ErrorReport;
use stoker_services::metadata::embedded_graphs::EmbeddedGraphs;
use stoker_services::plugins::Plugins;
use stoker_services::plugins::files::Packages;
use stoker_services::releases::release_create;
use stoker_services::{Clock, Environment, ServiceError, Services};
use stoker_settings::{DatabaseLocation, Server};
use stoker_store::{Database, Store, WriteTransaction};
use stoker_testkit::TempFolder;
use stoker_traces::Tracer;

pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) settings: Server,
    pub(crate) tenant: Tenant,
    pub(crate) release: Release,
    folder: TempFolder,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let folder = TempFolder::new();
        let store = Store::open(&Database::Sqlite { path: folder.file("test.db") })
            .await
            .expect("the test set-up succeeds");
        let settings = Server {
            database: DatabaseLocation::Folder(folder.path().to_owned()),
            plugins_root: folder.file("plugins"),
            ..Server::default()
        };
        let tenant = NewTenant { name: "blue".to_owned(), description: None, enabled: true };
        let mut writing =
            store.begin_write(&Actor::server(), Micros(1)).await.expect("the test set-up succeeds");
        let tenant = writing.tenant_create(&tenant).await.expect("the test set-up succeeds");
        let release = release_create(writing, &release(), EmbeddedGraphs::default())
            .await
            .expect("the test set-up succeeds");
        Self { store, settings, tenant, release, folder }
    }

    pub(crate) async fn change(&self) -> WriteTransaction {
        self.store.begin_write(&Actor::server(), Micros(2)).await.expect("the test set-up succeeds")
    }

    pub(crate) fn plugins(&self) -> Plugins {
        Plugins { store: self.store.clone(), clock: Clock, packages: Packages::new(&self.settings) }
    }

    pub(crate) async fn services(&self) -> Services {
        let mut settings = self.settings.clone();
        settings.modules.key_file = self.file("module.key");
        let environment = Environment {
            store: self.store.clone(),
            settings: Arc::new(settings),
            clock: Clock,
            tracer: Tracer::default(),
            is_encrypted: false,
            authority: None,
        };
        Services::open(environment).await.expect("the test set-up succeeds")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.file(name)
    }

    /// Returns a request that creates a cluster without a selection.
    pub(crate) fn request(&self, name: &str) -> ClusterRequest {
        ClusterRequest {
            name: name.to_owned(),
            release_id: self.release.id,
            mode: None,
            net_provider: None,
            net_segment_type: None,
            nodes: Vec::new(),
            components: None,
            wizard: None,
            ui_settings: JsonMap::new(),
            tenant: TenantRef::Id(self.tenant.id),
            merge_order: None,
            merge_mode: None,
        }
    }
}

pub(crate) fn map(value: Json) -> JsonMap {
    match value {
        Json::Object(map) => map,
        other => panic!("not a map: {other}"),
    }
}

pub(crate) fn release() -> NewRelease {
    NewRelease {
        name: "Mitaka".to_owned(),
        version: "mitaka-9.0".to_owned(),
        description: None,
        operating_system: "Ubuntu".to_owned(),
        state: ReleaseState::Available,
        modes_metadata: map(json!({"ha_compact": {}})),
        roles_metadata: map(json!({"controller": {}, "compute": {"conflicts": ["controller"]}})),
        tags_metadata: JsonMap::new(),
        volumes_roles_mapping: JsonMap::new(),
        attributes_metadata: map(json!({
            "editable": {"common": {
                "debug": {"type": "checkbox", "value": false},
                "puppet_debug": {"type": "checkbox", "value": true},
            }},
            "generated": {"key": {"value": {"generator": "password"}}},
        })),
        networks_metadata: JsonMap::new(),
        volumes_metadata: JsonMap::new(),
        wizard_metadata: JsonMap::new(),
        components_metadata: vec![
            json!({"name": "hypervisor:kvm", "default": true}),
            json!({"name": "hypervisor:xen", "incompatible": [{"name": "hypervisor:kvm"}]}),
        ],
        required_component_types: Vec::new(),
        extensions: vec!["volume_manager".to_owned()],
        extra: JsonMap::new(),
    }
}

/// Returns the report of an error that the caller can fix.
pub(crate) fn invalid(error: ServiceError) -> ErrorReport {
    match error {
        ServiceError::Invalid(report) => report,
        other => panic!("not invalid: {other:?}"),
    }
}
