//! `/modules`: list and create.

use axum::extract::State;
use serde_json::json;
use stoker_model::{Json, Resource};
use stoker_modules::rules::{self, RuleContext};
use stoker_modules::{CreateRequest, Datastores};
use stoker_services::random;
use stoker_store::{ModuleFilter, StoreError};

use super::fault::{Fault, FaultBody, FaultResult, Faults};
use super::{datastores, describe, json_of, types, view, who};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::limits::check_quota;
use crate::state::App;

/// Maximum size of the Base64-encoded contents. Modules carry licences and settings, not disk images.
pub(super) const CONTENTS_BYTES_MAX: usize = 4 << 20;

/// List modules
///
/// Returns the modules that the caller may see.
#[utoipa::path(
    get, path = "/v1.0/{tenant}/modules",
    params(
        ("tenant" = String, Path, description = "ID or name of the caller's tenant, or `-`"),
        ("datastore" = Option<String>, Query, description = "Filter by datastore; `all`: modules without a datastore"),
    ),
    responses((status = 200, body = Json), (status = 400, body = FaultBody), Faults)
)]
pub(super) async fn module_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> FaultResult<ApiResponse<Json>> {
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
    Ok(ApiResponse::ok(json!({"modules": modules.iter().map(view::row).collect::<Vec<_>>()})))
}

/// Create a module
///
/// Contents are encrypted before they are stored. Operations on modules never return them.
#[utoipa::path(
    post, path = "/v1.0/{tenant}/modules", params(("tenant" = String, Path)),
    request_body(content = Json, example = json!({"module": {
        "name": "license", "module_type": "ping", "contents": "bWVzc2FnZT1oaQo=", "apply_order": 5, "live_update": 1
    }})),
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn module_create(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<Json>> {
    let who = who(&login, &path)?;
    let create = CreateRequest::read(&json_of(document)?)?;
    if create.contents.len() > CONTENTS_BYTES_MAX {
        return Err(Fault::too_large("contents are", CONTENTS_BYTES_MAX));
    }
    let mut writing = app.change(&login).await?;
    let datastores = datastores(&mut writing).await?;
    let body = rules::create(&create, RuleContext { who, types: &types(&app), datastores: &datastores })?;
    let sealed = app.services.module_keys.seal(&create.contents)?;
    let created = writing.module_create(&random::uuid()?, &body, &sealed).await;
    let module = created.map_err(|error| duplicate_fault(error, &body))?;
    if let Some(tenant) = module.body.tenant_id {
        let within = check_quota(&app.limits, &mut writing, tenant, Resource::Modules).await;
        within.map_err(Fault::over_quota)?;
    }
    writing.commit(describe("module.create", &module)).await?;
    Ok(ApiResponse::ok(json!({"module": view::detail(&module)})))
}

pub(super) fn duplicate_fault(error: StoreError, body: &stoker_model::ModuleBody) -> Fault {
    match error {
        StoreError::AlreadyExists { what: "module" } => rules::duplicate_error(body).into(),
        error => error.into(),
    }
}
