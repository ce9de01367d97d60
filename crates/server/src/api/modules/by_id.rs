//! Operations on one module.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use stoker_model::{Json, Module};
use stoker_modules::UpdateRequest;
use stoker_modules::rules::{self, RuleContext};
use stoker_store::StoreError;

use super::collection::{CONTENTS_BYTES_MAX, duplicate_fault};
use super::fault::{Fault, FaultResult, Faults};
use super::{datastores, describe, is_applied, json_of, module_of, types, view, who};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::state::App;

/// Retrieve a module
#[utoipa::path(
    get, path = "/v1.0/{tenant}/modules/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn module_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<Json>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let module = module_of(&mut session, who, path.text("id")).await?;
    let carriers = session.module_nodes(&module.uuid).await?;
    let n_carriers = carriers.iter().filter(|carrier| carrier.body.md5 == module.body.md5).count();
    Ok(ApiResponse::ok(json!({"module": view::full(&module, n_carriers)})))
}

/// Update a module
///
/// Omitted fields are unchanged.
#[utoipa::path(
    put, path = "/v1.0/{tenant}/modules/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    request_body(content = Json, example = json!({"module": {"apply_order": 7, "priority_apply": true}})),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn module_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<Json>> {
    update(&app, &login, &path, document).await
}

/// Update a module
///
/// Same as `PUT`.
#[utoipa::path(
    patch, path = "/v1.0/{tenant}/modules/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    request_body(content = Json, example = json!({"module": {"apply_order": 7}})),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn module_patch(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<Json>> {
    update(&app, &login, &path, document).await
}

async fn update(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<Json>> {
    let who = who(login, path)?;
    let body = json_of(document);
    let mut writing = app.change(login).await?;
    let module = module_of(&mut writing, who, path.text("id")).await?;
    let update = UpdateRequest::read(&body?)?;
    if update.contents.as_ref().is_some_and(|contents| contents.len() > CONTENTS_BYTES_MAX) {
        return Err(Fault::too_large("contents are", CONTENTS_BYTES_MAX));
    }
    let is_applied = is_applied(&mut writing, &module).await?;
    let datastores = datastores(&mut writing).await?;
    let types = types(app);
    let body = rules::update(
        &module,
        &update,
        is_applied,
        RuleContext { who, types: &types, datastores: &datastores },
    )?;
    let sealed =
        update.contents.as_ref().map(|contents| app.services.module_keys.seal(contents)).transpose()?;
    let changed = Module { body, ..module };
    let updated = writing.module_update(&changed, sealed.as_ref()).await;
    let module = updated.map_err(|error| match error {
        StoreError::Stale { .. } => {
            Fault::unprocessable("the module was changed concurrently; retry the request")
        }
        error => duplicate_fault(error, &changed.body),
    })?;
    writing.commit(describe("module.update", &module)).await?;
    Ok(ApiResponse::ok(json!({"module": view::detail(&module)})))
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
    let module = module_of(&mut writing, who, path.text("id")).await?;
    let is_applied = is_applied(&mut writing, &module).await?;
    rules::delete(&module, is_applied, who)?;
    writing.module_delete(module.id).await?;
    writing.commit(describe("module.delete", &module)).await?;
    Ok(StatusCode::OK)
}
