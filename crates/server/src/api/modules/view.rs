//! JSON representation of modules, instances and results.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use stoker_model::{Json, Module, ModuleBody, Node, NodeModule, NodeStatus, TenantId};
use stoker_modules::Requester;
use stoker_services::clock;
use stoker_services::modules::instances::NodeInstance;

use super::fault::FaultResult;
use crate::state::App;

const ALL: &str = "all";

/// Renders a module for a list.
pub(super) fn row(module: &Module) -> Json {
    let body = &module.body;
    json!({
        "id": module.uuid,
        "name": body.name,
        "type": body.module_type,
        "description": body.description,
        "tenant_id": body.tenant_id.map(|id| id.to_string()),
        "tenant": tenant(body.tenant_id),
        "datastore_id": body.datastore,
        "datastore": or_all(body.datastore.as_deref()),
        "datastore_version_id": body.datastore_version,
        "datastore_version": or_all(body.datastore_version.as_deref()),
        "auto_apply": body.auto_apply,
        "priority_apply": body.priority_apply,
        "apply_order": body.apply_order,
        "is_admin": body.is_admin,
        "visible": body.visible,
        "md5": body.md5,
        "created": clock::seconds(module.created_at),
        "updated": clock::seconds(module.updated_at),
    })
}

/// Renders a module for the response to create and update.
pub(super) fn detail(module: &Module) -> Json {
    let mut view = row(module);
    view["live_update"] = module.body.live_update.into();
    view
}

/// Renders a module for the response to a retrieve request.
pub(super) fn full(module: &Module, instance_count: usize) -> Json {
    let mut view = detail(module);
    view["instance_count"] = instance_count.into();
    view
}

fn tenant(id: Option<TenantId>) -> String {
    id.map_or_else(|| ALL.to_owned(), |id| id.to_string())
}

fn or_all(name: Option<&str>) -> &str {
    name.unwrap_or(ALL)
}

/// Returns the result of a module on an instance.
pub(super) fn result(applied: &NodeModule, contents: Option<&str>) -> Json {
    let body: &ModuleBody = &applied.body;
    json!({
        "id": applied.uuid,
        "name": body.name,
        "type": body.module_type,
        "md5": body.md5,
        "tenant": tenant(body.tenant_id),
        "datastore": or_all(body.datastore.as_deref()),
        "datastore_version": or_all(body.datastore_version.as_deref()),
        "status": applied.status.as_str(),
        "message": applied.message,
        "created": clock::spaced(applied.created_at),
        "updated": clock::spaced(applied.updated_at),
        "removed": applied.removed_at.map(clock::spaced),
        "auto_apply": body.auto_apply,
        "visible": body.visible,
        "priority_apply": body.priority_apply,
        "apply_order": body.apply_order,
        "is_admin": body.is_admin,
        "contents": contents,
    })
}

/// Returns the contents as they were applied. Only admins may read those of admin modules.
pub(super) fn contents(app: &App, who: Requester, applied: &NodeModule) -> FaultResult<String> {
    if applied.body.is_admin && !who.is_admin {
        let sentence = format!("Must be admin to retrieve contents for module {}", applied.body.name);
        return Ok(STANDARD.encode(sentence));
    }
    Ok(app.services.module_keys.unseal(&applied.contents)?)
}

pub(super) fn instance(instance: &NodeInstance) -> Json {
    let NodeInstance { node, cluster, release, is_revoked } = instance;
    let options = &node.instance_options;
    let flavor = match options.get("flavorRef") {
        Some(Json::String(id)) => id.clone(),
        Some(id) => id.to_string(),
        None => "0".to_owned(),
    };
    let mut view = json!({
        "id": node.id.to_string(),
        "name": node.name,
        "status": if *is_revoked { "SHUTDOWN" } else { status(node) },
        "operating_status": if node.online && !is_revoked { "HEALTHY" } else { "SHUTDOWN" },
        "datastore": {"type": release.body.name, "version": release.body.version},
        "flavor": {"id": flavor, "links": []},
        "region": "RegionOne",
        "tenant_id": cluster.tenant_id.to_string(),
        "access": {},
        "links": [],
        "created": clock::seconds(node.created_at),
        "updated": clock::seconds(node.last_seen_at.unwrap_or(node.created_at)),
    });
    if let Some(volume) = options.get("volume") {
        view["volume"] = volume.clone();
    }
    view
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
