//! Module API: `/v1.0/{tenant}/…`, compatible with the module operations of OpenStack Trove clients.
//!
//! Instances are nodes that belong to a cluster; datastores are releases. `stoker-modules` owns the rules,
//! `stoker-services` and `stoker-orchestrator` the use cases. A path without a tenant (`/v1.0/modules`) refers to the
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

use stoker_model::{Json, Permission, Role};
use stoker_modules::{Requester, RuleViolation};
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
    let tenant = path.text("tenant");
    if tenant != OWN_TENANT && tenant != caller.tenant_id.to_string() && tenant != caller.tenant_name {
        let tenant: String = tenant.chars().take(100).collect();
        return Err(RuleViolation::forbidden(format!(
            "User with tenant id {} cannot access the tenant {tenant}",
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
