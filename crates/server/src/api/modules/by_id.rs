//! Operations on one module.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use stoker_api_types::modules::ModuleEnvelope;
use stoker_model::Json;
use stoker_modules::UpdateRequest;
use stoker_services::modules::records::{self, module_find};

use super::fault::{FaultResult, Faults};
use super::{json_of, view, who};
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Retrieve a module
#[utoipa::path(
    get, path = "/v1.0/{tenant}/modules/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = ModuleEnvelope), Faults)
)]
pub(super) async fn module_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<ModuleEnvelope>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let module = module_find(&mut session, who, path.text("id")).await?;
    let carriers = session.module_nodes(&module.uuid).await?;
    let n_carriers = carriers.iter().filter(|carrier| carrier.body.md5 == module.body.md5).count();
    Ok(ApiResponse::ok(ModuleEnvelope { module: view::full(&module, n_carriers) }))
}

/// Update a module
///
/// Omitted fields are unchanged.
#[utoipa::path(
    put, path = "/v1.0/{tenant}/modules/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    request_body(content = Json, example = json!({"module": {"apply_order": 7, "priority_apply": true}})),
    responses((status = 200, body = ModuleEnvelope), Faults)
)]
pub(super) async fn module_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<ModuleEnvelope>> {
    update(&app, &login, &path, document).await
}

/// Update a module
///
/// Same as `PUT`.
#[utoipa::path(
    patch, path = "/v1.0/{tenant}/modules/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    request_body(content = Json, example = json!({"module": {"apply_order": 7}})),
    responses((status = 200, body = ModuleEnvelope), Faults)
)]
pub(super) async fn module_patch(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<ModuleEnvelope>> {
    update(&app, &login, &path, document).await
}

async fn update(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<ModuleEnvelope>> {
    let who = who(login, path)?;
    let body = json_of(document);
    let mut writing = app.change(login).await?;
    let module = module_find(&mut writing, who, path.text("id")).await?;
    let update = UpdateRequest::read(&body?)?;
    update.check_read_only(&json!(view::detail(&module)))?;
    let module =
        records::module_update(&app.settings, &app.services.module_keys, writing, who, module, &update)
            .await?;
    Ok(ApiResponse::ok(ModuleEnvelope { module: view::detail(&module) }))
}

/// Delete a module
///
/// Instances to which the module was applied keep it.
#[utoipa::path(
    delete, path = "/v1.0/{tenant}/modules/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 200, description = "No body"), Faults)
)]
pub(super) async fn module_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<StatusCode> {
    let who = who(&login, &path)?;
    let mut writing = app.change(&login).await?;
    let module = module_find(&mut writing, who, path.text("id")).await?;
    records::module_delete(writing, who, &module).await?;
    Ok(StatusCode::OK)
}
