//! Runs in the Fuel-compatible API, which has two names for them: transactions are all runs, tasks are those
//! that no later run superseded.

mod access;
mod by_id;
mod collection;
mod history;
mod planned;
mod snapshot;
mod view;

use stoker_model::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use self::access::{is_active, require_run};
pub(super) use self::snapshot::settings_of;
pub(super) use self::view::{render_details, render_run};
use crate::api::routes::Routes;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("runs")
        .add(Permission::Read, routes!(collection::transaction_list))
        .add(Permission::Read, routes!(by_id::transaction_show))
        .add(Permission::Operate, routes!(by_id::transaction_delete))
        .add_serving(Permission::Read, &[history::CSV], routes!(history::transaction_history))
        .add(Permission::Read, routes!(snapshot::transaction_deployment_info))
        .add(Permission::Read, routes!(snapshot::transaction_settings))
        .add(Permission::Read, routes!(snapshot::transaction_network_configuration))
        .add(Permission::Read, routes!(collection::task_list))
        .add(Permission::Read, routes!(by_id::task_show))
        .add(Permission::Operate, routes!(by_id::task_delete))
        .finish()
}
