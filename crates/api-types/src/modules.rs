//! Responses of the module API.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stoker_model::Json;
use utoipa::ToSchema;

/// Error of the module API: `{"badRequest": {"code": 400, "message": "…"}}`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ModuleFault)]
pub struct FaultBody(pub BTreeMap<String, serde_json::Value>);

/// Module.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Module)]
#[expect(clippy::struct_excessive_bools, reason = "the fields are those of Trove")]
pub struct ModuleView {
    #[schema(example = "6f4ecebd-5367-471b-aeda-e74920c75fe9")]
    pub id: String,
    pub name: String,
    /// Name of the driver that applies it.
    #[serde(rename = "type")]
    #[schema(example = "ping")]
    pub module_type: String,
    pub description: Option<String>,
    /// ID of the tenant that the module applies to; null for all tenants.
    pub tenant_id: Option<String>,
    /// ID of the tenant, or `all`.
    pub tenant: String,
    /// Name of the releases that the module applies to; null for all releases.
    pub datastore_id: Option<String>,
    /// Name of the releases, or `all`.
    pub datastore: String,
    /// Version of the releases that the module applies to; null for all versions.
    pub datastore_version_id: Option<String>,
    /// Version of the releases, or `all`.
    pub datastore_version: String,
    /// Whether the module is applied to new instances.
    pub auto_apply: bool,
    /// Whether the module is applied before modules without priority.
    pub priority_apply: bool,
    /// Position in the apply order.
    #[schema(minimum = 0, maximum = 9)]
    pub apply_order: i64,
    /// Whether only admins may change the module.
    pub is_admin: bool,
    pub visible: bool,
    /// MD5 of the contents.
    pub md5: String,
    pub created: String,
    pub updated: String,
    /// Whether the module may change on instances that have it. Not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub live_update: Option<bool>,
    /// Number of instances that have the current contents. Only when a single module is retrieved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub instance_count: Option<usize>,
}

/// Response with one module.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ModuleEnvelope {
    pub module: ModuleView,
}

/// Response with modules.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ModuleCollection {
    pub modules: Vec<ModuleView>,
}

/// Module on an instance, with the result of its last application.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ModuleResult)]
#[expect(clippy::struct_excessive_bools, reason = "the fields are those of Trove")]
pub struct ModuleResultView {
    pub id: String,
    pub name: String,
    #[serde(rename = "type")]
    pub module_type: String,
    /// MD5 of the contents that were applied.
    pub md5: String,
    pub tenant: String,
    pub datastore: String,
    pub datastore_version: String,
    /// Status, such as `OK` or `ERROR`.
    #[schema(example = "OK")]
    pub status: String,
    pub message: Option<String>,
    pub created: String,
    pub updated: String,
    pub removed: Option<String>,
    pub auto_apply: bool,
    pub visible: bool,
    pub priority_apply: bool,
    pub apply_order: i64,
    pub is_admin: bool,
    /// Contents in Base64, if the request includes them.
    pub contents: Option<String>,
}

/// Response with modules of an instance.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ModuleResults {
    pub modules: Vec<ModuleResultView>,
}

/// Instance: a node that belongs to a cluster.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ModuleInstance)]
pub struct CarrierView {
    #[schema(example = "7")]
    pub id: String,
    pub name: String,
    /// `ACTIVE`, `BUILD`, `ERROR` or `SHUTDOWN`.
    #[schema(example = "ACTIVE")]
    pub status: String,
    /// `HEALTHY` or `SHUTDOWN`.
    pub operating_status: String,
    /// Release of the instance.
    pub datastore: CarrierRelease,
    pub flavor: CarrierFlavor,
    pub region: String,
    pub tenant_id: String,
    /// Always empty.
    #[schema(value_type = Object)]
    pub access: BTreeMap<String, Json>,
    /// Always empty.
    #[schema(value_type = Vec<Object>)]
    pub links: Vec<Json>,
    pub created: String,
    pub updated: String,
    /// Volume as the instance was created with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<serde_json::Value>)]
    pub volume: Option<Json>,
}

/// Release of an instance.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ModuleInstanceDatastore)]
pub struct CarrierRelease {
    #[serde(rename = "type")]
    pub name: String,
    pub version: String,
}

/// Flavor of an instance, as it was created with it.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ModuleInstanceFlavor)]
pub struct CarrierFlavor {
    #[schema(example = "0")]
    pub id: String,
    /// Always empty.
    #[schema(value_type = Vec<Object>)]
    pub links: Vec<Json>,
}

/// Response with one instance.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CarrierEnvelope {
    pub instance: CarrierView,
}

/// Page of instances.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CarrierPage {
    pub instances: Vec<CarrierView>,
    /// Link to the next page, unless this is the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub links: Vec<PageLink>,
}

/// Link to another page.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PageLink {
    /// `next`.
    pub rel: String,
    pub href: String,
}

/// Page of the instances of a module or, with `count_only`, their number for each version of the contents.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CarrierRows {
    pub instances: Vec<CarrierRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub links: Vec<PageLink>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(untagged)]
pub enum CarrierRow {
    Count(CarrierCount),
    Instance(Box<CarrierView>),
}

/// Number of instances with the same contents of a module.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CarrierCount {
    pub module_id: String,
    pub module_name: String,
    pub module_md5: String,
    pub instance_count: usize,
    /// Whether these are the current contents of the module.
    pub current: bool,
    /// Time of the first application.
    pub min_updated_date: String,
    /// Time of the last application.
    pub max_updated_date: String,
}

/// Datastore: releases of one name.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Datastore)]
pub struct DatastoreView {
    pub id: String,
    pub name: String,
    pub default_version: Option<String>,
    pub versions: Vec<DatastoreVersion>,
    /// Always empty.
    #[schema(value_type = Vec<Object>)]
    pub links: Vec<Json>,
}

/// Release of a datastore.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DatastoreVersion {
    pub id: String,
    pub name: String,
    pub version: String,
    pub datastore: String,
    /// Whether clusters can be created from the release.
    pub active: bool,
    /// Always empty.
    #[schema(value_type = Vec<Object>)]
    pub links: Vec<Json>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DatastoreCollection {
    pub datastores: Vec<DatastoreView>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DatastoreEnvelope {
    pub datastore: DatastoreView,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DatastoreVersions {
    pub versions: Vec<DatastoreVersion>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DatastoreVersionEnvelope {
    pub version: DatastoreVersion,
}
