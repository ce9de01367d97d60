//! Modules of an instance: list, apply, remove.

use std::time::Duration;
use stoker_orchestrator::agent_launcher::has_reachable_agent;
use stoker_orchestrator::runs::start_driver;

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use stoker_model::{
    AuditChange, Json, Micros, ModuleAction, ModuleItem, ModuleStatus, Node, NodeModule, RunId, RunStatus,
};
use stoker_modules::{ApplyRequest, ModuleError, datastore, rules};
use stoker_orchestrator::runs::wait;
use stoker_services::modules::lists::{LIST_BYTES_MAX, ModuleListRequest, enqueue, is_too_large, items};
use stoker_store::{ModuleFilter, WriteTransaction};

use super::fault::{Fault, FaultResult, Faults};
use super::instances::Instance;
use super::{json_of, module_of, view, who};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Time that a run gets after its deadline to record that it timed out.
const MARGIN: Duration = Duration::from_secs(10);

/// List the modules of an instance
///
/// Returns the applied modules, most recently applied first.
#[utoipa::path(
    get, path = "/v1.0/{tenant}/instances/{id}/modules",
    params(
        ("tenant" = String, Path), ("id" = String, Path),
        ("from_guest" = Option<String>, Query, description = "Accepted and ignored: recorded agent reports are returned"),
        ("include_contents" = Option<String>, Query, description = "Include the Base64-encoded contents (any value)"),
    ),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn instance_modules(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> FaultResult<ApiResponse<Json>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let instance = Instance::of_path(&mut session, who, &path).await?;
    let wants_contents = query.text("include_contents").is_some();
    let mut views = Vec::new();
    for applied in session.node_modules(instance.node.id).await? {
        if applied.removed_at.is_some() || !(applied.body.visible || who.is_admin) {
            continue;
        }
        let contents = wants_contents.then(|| view::contents(&app, who, &applied)).transpose()?;
        views.push(view::result(&applied, contents.as_deref()));
    }
    Ok(ApiResponse::ok(json!({"modules": views})))
}

/// Apply modules to an instance
///
/// Applies the modules in their configured order and waits for the end. If a module fails, the remaining ones
/// are still applied. Unknown module IDs are ignored.
#[utoipa::path(
    post, path = "/v1.0/{tenant}/instances/{id}/modules", params(("tenant" = String, Path), ("id" = String, Path)),
    request_body(content = Json, example = json!({"modules": [{"id": "6f4ecebd-5367-471b-aeda-e74920c75fe9"}]})),
    responses((status = 200, body = Json, description = "Results in the order of application"), Faults)
)]
pub(super) async fn instance_apply(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<Json>> {
    let who = who(&login, &path)?;
    let body = json_of(document);
    let mut writing = app.change(&login).await?;
    let instance = Instance::of_path(&mut writing, who, &path).await?;
    let request = ApplyRequest::read(&body?)?;
    let filter = ModuleFilter { uuids: Some(request.ids), ..ModuleFilter::default() };
    let mut modules = writing.module_list(&filter).await?;
    modules.retain(|module| rules::may_apply(who, &module.body));
    let release = &instance.release.body;
    for module in &modules {
        if !datastore::is_compatible(&module.body, &release.name, &release.version) {
            return Err(datastore::incompatible_error(&module.body).into());
        }
    }
    if modules.is_empty() {
        return Ok(ApiResponse::ok(json!({"modules": []})));
    }
    let items = items(&mut writing, modules).await?;
    let uuids: Vec<String> = items.iter().map(|item| item.uuid.clone()).collect();
    let run = start_run(&app, writing, &instance.node, ModuleAction::Apply, items).await?;
    wait_for_end(&app, run).await?;
    let mut results = app.store.read().await?.node_modules(instance.node.id).await?;
    results.retain(|applied| uuids.contains(&applied.uuid) && applied.removed_at.is_none());
    results.sort_by_key(|applied| applied.updated_at);
    if results.is_empty() {
        return Err(ModuleError::guest_error("the agent reported no results for the modules").into());
    }
    let views: Vec<Json> = results.iter().map(|applied| view::result(applied, None)).collect();
    Ok(ApiResponse::ok(json!({"modules": views})))
}

/// Remove a module from an instance
///
/// Waits until the module is removed.
#[utoipa::path(
    delete, path = "/v1.0/{tenant}/instances/{id}/modules/{module}",
    params(("tenant" = String, Path), ("id" = String, Path), ("module" = String, Path)),
    responses((status = 200, description = "No body"), Faults)
)]
pub(super) async fn instance_remove(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<StatusCode> {
    let who = who(&login, &path)?;
    let mut writing = app.change(&login).await?;
    let instance = Instance::of_path(&mut writing, who, &path).await?;
    let module = module_of(&mut writing, who, path.text("module")).await?;
    let applied = find(writing.node_modules(instance.node.id).await?, &module.uuid);
    let Some(applied) = applied else {
        return Err(ModuleError::guest_error(&format!(
            "module '{}' was never applied to this instance",
            module.body.name
        ))
        .into());
    };
    if applied.removed_at.is_some() {
        return Ok(StatusCode::OK);
    }
    // Remove the version that was applied: the module may have changed since.
    let item = ModuleItem { uuid: applied.uuid, body: applied.body, contents: applied.contents };
    let run = start_run(&app, writing, &instance.node, ModuleAction::Remove, vec![item]).await?;
    wait_for_end(&app, run).await?;
    let after = find(app.store.read().await?.node_modules(instance.node.id).await?, &module.uuid);
    match after {
        Some(NodeModule { status: ModuleStatus::Error, message, removed_at: None, .. }) => {
            Err(ModuleError::guest_error(message.as_deref().unwrap_or("the module was not removed")).into())
        }
        _ => Ok(StatusCode::OK),
    }
}

fn find(applied: Vec<NodeModule>, uuid: &str) -> Option<NodeModule> {
    applied.into_iter().find(|applied| applied.uuid == uuid)
}

/// Enqueues a module run on the node, commits and starts it.
async fn start_run(
    app: &App,
    mut writing: WriteTransaction,
    node: &Node,
    action: ModuleAction,
    items: Vec<ModuleItem>,
) -> FaultResult<RunId> {
    if !node.online {
        return Err(ModuleError::guest_error("the agent of this node is not connected").into());
    }
    if !has_reachable_agent(&app.orchestrator, &mut writing, node).await? {
        return Err(ModuleError::guest_error(&format!(
            "node {0} has no agent; start `stoker agent` on it with a join token, or configure SSH access for the server",
            node.id
        ))
        .into());
    }
    if is_too_large(&items) {
        return Err(Fault::too_large("the modules together are", LIST_BYTES_MAX));
    }
    let uuids: Vec<String> = items.iter().map(|item| item.uuid.clone()).collect();
    let deadline = Micros(
        writing.now().0
            + i64::try_from(app.settings.modules.apply_time().as_micros()).unwrap_or(i64::MAX / 2),
    );
    let request = ModuleListRequest { deadline: Some(deadline), action, ..ModuleListRequest::apply(node.id, items) };
    let run = enqueue(&mut writing, request).await?;
    let detail = json!({"action": action.as_str(), "modules": uuids, "run": run.0});
    writing.commit(AuditChange { action: "module.ask", target: format!("node {}", node.id), detail }).await?;
    start_driver(&app.orchestrator, run);
    Ok(run)
}

async fn wait_for_end(app: &App, run: RunId) -> FaultResult<()> {
    let ended = wait(&app.orchestrator, run, app.settings.modules.apply_time() + MARGIN).await?;
    match ended {
        Some(run) if run.status == RunStatus::Ready => Ok(()),
        Some(run) => Err(ModuleError::guest_error(run.message.as_deref().unwrap_or("the run failed")).into()),
        None => Err(ModuleError::guest_error("timeout while waiting for the agent").into()),
    }
}
