//! Module API: `/v1.0/{tenant}/…`, compatible with the module operations of OpenStack Trove clients.
//!
//! Instances are nodes that belong to a cluster; datastores are releases. `stoker-modules` owns the rules;
//! this module loads the records that they need. A path without a tenant (`/v1.0/modules`) refers to the
//! tenant of the token.

mod apply;
mod by_id;
mod carriers;
mod collection;
mod datastores;
mod fault;
mod instance_create;
mod instances;
mod view;

use serde_json::json;
use stoker_model::{AuditChange, Json, Module, Permission, Role};
use stoker_modules::{Datastores, ModuleError, Requester, rules};
use stoker_store::{List, Session, StoreError};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use self::fault::module_faults;
use self::fault::{Fault, FaultResult};
use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::http::body::Document;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::rewrite::OWN_TENANT;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("modules")
        .add_unversioned(Permission::Modules, routes!(collection::module_list, collection::module_create))
        .add_unversioned(
            Permission::Modules,
            routes!(by_id::module_show, by_id::module_update, by_id::module_patch, by_id::module_delete),
        )
        .add_unversioned(Permission::Modules, routes!(carriers::module_instances, carriers::module_reapply))
        .add_unversioned(
            Permission::Modules,
            routes!(instances::instance_list, instance_create::instance_create),
        )
        .add_unversioned(Permission::Modules, routes!(instances::instance_show, instances::instance_delete))
        .add_unversioned(Permission::Modules, routes!(apply::instance_modules, apply::instance_apply))
        .add_unversioned(Permission::Modules, routes!(apply::instance_remove))
        .add_unversioned(Permission::Modules, routes!(datastores::datastore_list))
        .add_unversioned(Permission::Modules, routes!(datastores::datastore_show))
        .add_unversioned(Permission::Modules, routes!(datastores::datastore_version_list))
        .add_unversioned(Permission::Modules, routes!(datastores::datastore_version_show))
        .finish()
}

/// Returns the requester. The path must name the tenant of the token, by ID or by name.
fn who(login: &Authenticated, path: &PathParams) -> FaultResult<Requester> {
    let caller = &login.caller;
    let named = path.text("tenant");
    if named != OWN_TENANT && named != caller.tenant_id.to_string() && named != caller.tenant_name {
        let named: String = named.chars().take(100).collect();
        return Err(ModuleError::forbidden(format!(
            "User with tenant id {} cannot access the tenant {named}",
            caller.tenant_id
        ))
        .into());
    }
    Ok(Requester { tenant_id: caller.tenant_id, is_admin: caller.roles.contains(&Role::Admin) })
}

/// Parses the body, without source positions.
fn json_of(document: Result<Document, ApiError>) -> FaultResult<Json> {
    document.and_then(|document| document.json_roughly()).map_err(Fault::malformed)
}

/// Finds a module that the caller may see.
async fn module_of(session: &mut Session, who: Requester, id: &str) -> FaultResult<Module> {
    let module = session.module_by_uuid(id).await?;
    Ok(module.filter(|module| rules::can_see(who, &module.body)).ok_or_else(|| ModuleError::module_not_found(id))?)
}

/// Whether any instance has the module with its current contents.
async fn is_applied(session: &mut Session, module: &Module) -> Result<bool, StoreError> {
    let carriers = session.module_nodes(&module.uuid).await?;
    Ok(carriers.iter().any(|carrier| carrier.body.md5 == module.body.md5))
}

async fn datastores(session: &mut Session) -> Result<Datastores, StoreError> {
    let releases = session.release_list(&List::default()).await?.items;
    Ok(Datastores(releases.into_iter().map(|release| (release.body.name, release.body.version)).collect()))
}

/// Module types that the configuration permits.
fn types(app: &App) -> Vec<&'static str> {
    let drivers = stoker_tasks::MODULE_DRIVERS.iter().map(|driver| driver.name);
    match &app.settings.modules.types {
        None => drivers.collect(),
        Some(allowed) => drivers.filter(|name| allowed.iter().any(|allowed| allowed == name)).collect(),
    }
}

/// Builds the audit record. Contents are omitted: they may be secret.
fn describe(action: &'static str, module: &Module) -> AuditChange {
    let detail = json!({
        "name": module.body.name, "type": module.body.module_type, "md5": module.body.md5,
        "tenant_id": module.body.tenant_id.map(|id| id.0), "is_admin": module.body.is_admin,
    });
    AuditChange { action, target: format!("module {}", module.uuid), detail }
}
