//! Instance creation: assigns a free node to the tenant's cluster of a release and deploys it.

use axum::extract::State;
use stoker_api_types::modules::CarrierEnvelope;
use stoker_model::Json;
use stoker_modules::input::InstanceRequest;
use stoker_orchestrator::instances;

use super::fault::{FaultResult, Faults};
use super::{json_of, view, who};
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Create an instance
///
/// Assigns a free online node to the tenant's cluster of the release and deploys it. The cluster is created
/// if it does not exist. If the release has no tasks, the instance is active immediately. If `datastore` is
/// omitted, the newest release is used. The requested modules and those with `auto_apply` are applied after
/// the deployment. `flavorRef` and `volume` have no effect, because the size of a node is fixed; responses repeat them.
#[utoipa::path(
    post, path = "/v1.0/{tenant}/instances", params(("tenant" = String, Path)),
    request_body(content = Json, example = json!({"instance": {
        "name": "db-1", "flavorRef": "1", "datastore": {"type": "mysql", "version": "8.0"}
    }})),
    responses((status = 200, body = CarrierEnvelope), Faults)
)]
pub(super) async fn instance_create(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<ApiResponse<CarrierEnvelope>> {
    let who = who(&login, &path)?;
    let request = InstanceRequest::read(&json_of(document)?)?;
    let writing = app.change(&login).await?;
    let tenant = &login.caller.tenant_name;
    let instance = instances::instance_create(&app.orchestrator, writing, who, tenant, &request).await?;
    Ok(ApiResponse::ok(CarrierEnvelope { instance: view::instance(&instance) }))
}
