//! `/modules`: list and create.

use axum::extract::State;
use stoker_api_types::modules::{FaultBody, ModuleCollection, ModuleEnvelope};
use stoker_model::Json;
use stoker_modules::{CreateRequest, Datastores};
use stoker_services::modules::records::{self, datastores};
use stoker_store::ModuleFilter;

use super::fault::{FaultResult, Faults};
use super::{json_of, view, who};
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// List modules
///
/// Returns the modules that the caller may see.
#[utoipa::path(
    get, path = "/v1.0/{tenant}/modules",
    params(
        ("tenant" = String, Path, description = "ID or name of the caller's tenant, or `-`"),
        ("datastore" = Option<String>, Query, description = "Filter by datastore; `all`: modules without a datastore"),
    ),
    responses((status = 200, body = ModuleCollection), (status = 400, body = FaultBody), Faults)
)]
pub(super) async fn module_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> FaultResult<ApiResponse<ModuleCollection>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let mut filter = ModuleFilter::default();
    if !who.is_admin {
        filter.visible_to = Some(who.tenant_id);
    }
    match query.text("datastore") {
        None => {}
        Some("all") => filter.datastore = Some(None),
        Some(name) => {
            if !datastores(&mut session).await?.has(name) {
                return Err(Datastores::unknown(name).into());
            }
            filter.datastore = Some(Some(name.to_owned()));
        }
    }
    let modules = session.module_list(&filter).await?;
    Ok(ApiResponse::ok(ModuleCollection { modules: modules.iter().map(view::row).collect() }))
}

/// Create a module
///
/// Contents are encrypted before they are stored. Operations on modules never return them.
#[utoipa::path(
    post, path = "/v1.0/{tenant}/modules", params(("tenant" = String, Path)),
    request_body(content = Json, example = json!({"module": {
        "name": "license", "module_type": "ping", "contents": "bWVzc2FnZT1oaQo=", "apply_order": 5, "live_update": 1
    }})),
    responses((status = 200, body = ModuleEnvelope), Faults)
)]
pub(super) async fn module_create(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<ModuleEnvelope>> {
    let who = who(&login, &path)?;
    let create = CreateRequest::read(&json_of(document)?)?;
    let writing = app.change(&login).await?;
    let module =
        records::module_create(&app.settings, &app.services.module_keys, writing, who, &create).await?;
    Ok(ApiResponse::ok(ModuleEnvelope { module: view::detail(&module) }))
}
