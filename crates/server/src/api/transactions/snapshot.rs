//! State from which a run was planned.

use axum::extract::State;
use stoker_api_types::attributes::AttributesView;
use stoker_api_types::transactions::InfoView;
use stoker_model::{DocumentId, Json, JsonMap, PlanId, Run, RunId};
use stoker_state::Secrets;
use stoker_store::Session;

use super::access::require_run;
use crate::access::caller::Authenticated;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Retrieve the state of a transaction
///
/// Returns the state from which the run was planned, with secrets masked.
#[utoipa::path(
    get, path = "/api/v1/transactions/{id}/deployment_info", params(("id" = i64, Path)),
    responses((status = 200, body = InfoView))
)]
pub(super) async fn transaction_deployment_info(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<InfoView>> {
    let mut session = app.store.snapshot().await?;
    let run = require_run(&mut session, &login, path.id("id", RunId, "Transaction")?, "Transaction").await?;
    let Some(plan) = plan_of(&mut session, &run).await? else {
        return Ok(ApiResponse::ok(InfoView { common: None, nodes: None }));
    };
    let Some(common_id) = session.plan_get(plan).await?.map(|record| record.common_id) else {
        return Ok(ApiResponse::ok(InfoView { common: None, nodes: None }));
    };
    let node_documents = session.plan_nodes(plan).await?;
    let ids: Vec<DocumentId> = node_documents.iter().map(|(_, id)| *id).chain([common_id]).collect();
    let documents = session.documents_get(&ids).await?;
    let mut secrets = Secrets::default();
    for document in documents.values() {
        secrets.add(document);
    }
    let masked = |id: DocumentId| {
        let mut document = Json::Object(documents.get(&id).cloned().unwrap_or_default());
        secrets.mask(&mut document);
        document
    };
    let nodes: JsonMap = node_documents.into_iter().map(|(uid, id)| (uid, masked(id))).collect();
    Ok(ApiResponse::ok(InfoView { common: Some(masked(common_id)), nodes: Some(Json::Object(nodes)) }))
}

/// Retrieve the settings of a transaction
///
/// Returns the cluster settings from which the run was planned. Null before it is planned.
#[utoipa::path(
    get, path = "/api/v1/transactions/{id}/settings", params(("id" = i64, Path)),
    responses((status = 200, body = Option<AttributesView>))
)]
pub(super) async fn transaction_settings(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<Option<AttributesView>>> {
    let mut session = app.store.snapshot().await?;
    let run = require_run(&mut session, &login, path.id("id", RunId, "Transaction")?, "Transaction").await?;
    let settings = match plan_of(&mut session, &run).await? {
        Some(plan) => settings_of(&mut session, plan).await?,
        None => None,
    };
    Ok(ApiResponse::ok(settings.map(|editable| AttributesView { editable })))
}

/// Retrieve the networks of a transaction
///
/// Returns the networks from which the run was planned. Null if there are none.
#[utoipa::path(
    get, path = "/api/v1/transactions/{id}/network_configuration", params(("id" = i64, Path)),
    responses((status = 200, body = Option<Object>))
)]
pub(super) async fn transaction_network_configuration(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<Option<JsonMap>>> {
    let mut session = app.store.snapshot().await?;
    let run = require_run(&mut session, &login, path.id("id", RunId, "Transaction")?, "Transaction").await?;
    let networks = match plan_of(&mut session, &run).await? {
        Some(plan) => state_section(&mut session, plan, "network_metadata").await?,
        None => None,
    };
    Ok(ApiResponse::ok(networks))
}

/// Returns the plan of a run, or of its last child run that has one.
async fn plan_of(session: &mut Session, run: &Run) -> ApiResult<Option<PlanId>> {
    if let Some(plan) = session.run_work(run.id).await?.and_then(|work| work.plan_id) {
        return Ok(Some(plan));
    }
    for part in session.run_children(run.id).await?.iter().rev() {
        if let Some(plan) = session.run_work(part.id).await?.and_then(|work| work.plan_id) {
            return Ok(Some(plan));
        }
    }
    Ok(None)
}

/// Returns the settings in the state from which a plan was computed.
pub(in crate::api) async fn settings_of(session: &mut Session, plan: PlanId) -> ApiResult<Option<JsonMap>> {
    state_section(session, plan, "settings").await
}

async fn state_section(session: &mut Session, plan: PlanId, key: &str) -> ApiResult<Option<JsonMap>> {
    let Some(record) = session.plan_get(plan).await? else { return Ok(None) };
    let documents = session.documents_get(&[record.common_id]).await?;
    let Some(common) = documents.get(&record.common_id) else { return Ok(None) };
    let mut secrets = Secrets::default();
    secrets.add(common);
    let Some(mut section) = common.get(key).cloned() else { return Ok(None) };
    secrets.mask(&mut section);
    Ok(section.as_object().cloned())
}
