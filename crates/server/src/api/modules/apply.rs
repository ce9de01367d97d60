//! Modules of an instance: list, apply, remove.

use axum::extract::State;
use axum::http::StatusCode;
use stoker_api_types::modules::ModuleResults;
use stoker_model::Json;
use stoker_modules::ApplyRequest;
use stoker_orchestrator::instances::{module_remove, modules_apply};
use stoker_services::modules::instances::NodeInstance;
use stoker_services::modules::records::module_find;

use super::fault::{FaultResult, Faults};
use super::{json_of, view, who};
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

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
    responses((status = 200, body = ModuleResults), Faults)
)]
pub(super) async fn instance_modules(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> FaultResult<ApiResponse<ModuleResults>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let instance = NodeInstance::find(&mut session, who, path.text("id")).await?;
    let wants_contents = query.text("include_contents").is_some();
    let mut views = Vec::new();
    for applied in session.node_modules(instance.node.id).await? {
        if applied.removed_at.is_some() || !(applied.body.visible || who.is_admin) {
            continue;
        }
        let contents = wants_contents.then(|| view::contents(&app, who, &applied)).transpose()?;
        views.push(view::result(applied, contents));
    }
    Ok(ApiResponse::ok(ModuleResults { modules: views }))
}

/// Apply modules to an instance
///
/// Applies the modules in their configured order and waits for completion. If a module fails, the remaining
/// modules are still applied. Unknown module IDs are ignored.
#[utoipa::path(
    post, path = "/v1.0/{tenant}/instances/{id}/modules", params(("tenant" = String, Path), ("id" = String, Path)),
    request_body(content = Json, example = json!({"modules": [{"id": "6f4ecebd-5367-471b-aeda-e74920c75fe9"}]})),
    responses((status = 200, body = ModuleResults, description = "Results in the order of application"), Faults)
)]
pub(super) async fn instance_apply(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<ModuleResults>> {
    let who = who(&login, &path)?;
    let body = json_of(document);
    let mut writing = app.change(&login).await?;
    let instance = NodeInstance::find(&mut writing, who, path.text("id")).await?;
    let request = ApplyRequest::read(&body?)?;
    let results = modules_apply(&app.orchestrator, writing, who, &instance, request).await?;
    let modules = results.into_iter().map(|applied| view::result(applied, None)).collect();
    Ok(ApiResponse::ok(ModuleResults { modules }))
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
    let instance = NodeInstance::find(&mut writing, who, path.text("id")).await?;
    let module = module_find(&mut writing, who, path.text("module")).await?;
    module_remove(&app.orchestrator, writing, &instance, &module).await?;
    Ok(StatusCode::OK)
}
