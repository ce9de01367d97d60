//! Facts: documents that deployment and provisioning tasks read. Computed from the state of the cluster,
//! unless a user has uploaded replacements.

mod compute;
mod deployment;
mod provisioning;
mod read;

use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("clusters")
        .add(Permission::Read, routes!(deployment::deployment_facts_show))
        .add(Permission::Operate, routes!(deployment::deployment_facts_update))
        .add(Permission::Operate, routes!(deployment::deployment_facts_delete))
        .add(Permission::Read, routes!(deployment::deployment_facts_show_defaults))
        .add(Permission::Read, routes!(provisioning::provisioning_facts_show))
        .add(Permission::Operate, routes!(provisioning::provisioning_facts_update))
        .add(Permission::Operate, routes!(provisioning::provisioning_facts_delete))
        .add(Permission::Read, routes!(provisioning::provisioning_facts_show_defaults))
        .finish()
}
