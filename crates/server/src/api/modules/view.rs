//! JSON representation of modules, instances and results.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stoker_api_types::modules::{CarrierFlavor, CarrierRelease, CarrierView, ModuleResultView, ModuleView};
use stoker_model::{Json, Module, ModuleBody, Node, NodeModule, NodeStatus, TenantId};
use stoker_modules::Requester;
use stoker_services::clock;
use stoker_services::modules::instances::NodeInstance;

use super::fault::FaultResult;
use crate::state::App;

const ALL: &str = "all";

/// Renders a module for a list.
pub(super) fn row(module: &Module) -> ModuleView {
    let body = module.body.clone();
    ModuleView {
        id: module.uuid.clone(),
        name: body.name,
        module_type: body.module_type,
        description: body.description,
        tenant_id: body.tenant_id.map(|id| id.to_string()),
        tenant: tenant(body.tenant_id),
        datastore: or_all(body.datastore.as_deref()),
        datastore_id: body.datastore,
        datastore_version: or_all(body.datastore_version.as_deref()),
        datastore_version_id: body.datastore_version,
        auto_apply: body.auto_apply,
        priority_apply: body.priority_apply,
        apply_order: body.apply_order,
        is_admin: body.is_admin,
        visible: body.visible,
        md5: body.md5,
        created: clock::seconds(module.created_at),
        updated: clock::seconds(module.updated_at),
        live_update: None,
        instance_count: None,
    }
}

/// Renders a module for the response to create and update.
pub(super) fn detail(module: &Module) -> ModuleView {
    ModuleView { live_update: Some(module.body.live_update), ..row(module) }
}

/// Renders a module for the response to a retrieve request.
pub(super) fn full(module: &Module, instance_count: usize) -> ModuleView {
    ModuleView { instance_count: Some(instance_count), ..detail(module) }
}

fn tenant(id: Option<TenantId>) -> String {
    id.map_or_else(|| ALL.to_owned(), |id| id.to_string())
}

fn or_all(name: Option<&str>) -> String {
    name.unwrap_or(ALL).to_owned()
}

/// Returns the result of a module on an instance.
pub(super) fn result(applied: NodeModule, contents: Option<String>) -> ModuleResultView {
    let body: ModuleBody = applied.body;
    ModuleResultView {
        id: applied.uuid,
        name: body.name,
        module_type: body.module_type,
        md5: body.md5,
        tenant: tenant(body.tenant_id),
        datastore: or_all(body.datastore.as_deref()),
        datastore_version: or_all(body.datastore_version.as_deref()),
        status: applied.status.as_str().to_owned(),
        message: applied.message,
        created: clock::spaced(applied.created_at),
        updated: clock::spaced(applied.updated_at),
        removed: applied.removed_at.map(clock::spaced),
        auto_apply: body.auto_apply,
        visible: body.visible,
        priority_apply: body.priority_apply,
        apply_order: body.apply_order,
        is_admin: body.is_admin,
        contents,
    }
}

/// Returns the contents as they were applied. Only admins may read those of admin modules.
pub(super) fn contents(app: &App, who: Requester, applied: &NodeModule) -> FaultResult<String> {
    if applied.body.is_admin && !who.is_admin {
        let sentence = format!("Must be admin to retrieve contents for module {}", applied.body.name);
        return Ok(STANDARD.encode(sentence));
    }
    Ok(app.services.module_keys.unseal(&applied.contents)?)
}

pub(super) fn instance(instance: &NodeInstance) -> CarrierView {
    let NodeInstance { node, cluster, release, is_revoked } = instance;
    let options = &node.instance_options;
    let flavor = match options.get("flavorRef") {
        Some(Json::String(id)) => id.clone(),
        Some(id) => id.to_string(),
        None => "0".to_owned(),
    };
    let is_healthy = node.online && !is_revoked;
    CarrierView {
        id: node.id.to_string(),
        name: node.name.clone(),
        status: if *is_revoked { "SHUTDOWN" } else { status(node) }.to_owned(),
        operating_status: if is_healthy { "HEALTHY" } else { "SHUTDOWN" }.to_owned(),
        datastore: CarrierRelease { name: release.body.name.clone(), version: release.body.version.clone() },
        flavor: CarrierFlavor { id: flavor, links: Vec::new() },
        region: "RegionOne".to_owned(),
        tenant_id: cluster.tenant_id.to_string(),
        access: BTreeMap::new(),
        links: Vec::new(),
        created: clock::seconds(node.created_at),
        updated: clock::seconds(node.last_seen_at.unwrap_or(node.created_at)),
        volume: options.get("volume").cloned(),
    }
}

fn status(node: &Node) -> &'static str {
    if !node.online {
        return "SHUTDOWN";
    }
    match node.status {
        NodeStatus::Ready => "ACTIVE",
        NodeStatus::Error => "ERROR",
        NodeStatus::Stopped | NodeStatus::Removing => "SHUTDOWN",
        NodeStatus::Discover | NodeStatus::Provisioning | NodeStatus::Provisioned | NodeStatus::Deploying => {
            "BUILD"
        }
    }
}
