//! The state that a run was made from.

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_model::{DocumentId, Json, JsonMap, PlanId, Run, RunId};
use stoker_state::Secrets;
use stoker_store::Session;
use utoipa::ToSchema;

use super::access::require_run;
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// What tasks saw: what all nodes had in common, and by uid what each had of its own. Empty before a run is planned.
#[derive(Serialize, ToSchema)]
#[schema(as = DeploymentInfo)]
pub(super) struct InfoView {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    common: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    nodes: Option<Json>,
}

/// The state that a run was made from, without its secrets
#[utoipa::path(
    get, path = "/api/v1/transactions/{id}/deployment_info", params(("id" = i64, Path)),
    responses((status = 200, body = InfoView))
)]
pub(super) async fn transaction_deployment_info(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<InfoView>> {
    let mut session = app.store.snapshot().await?;
    let run = require_run(&mut session, &login, path.id("id", RunId, "Transaction")?, "Transaction").await?;
    let Some(plan) = plan_of(&mut session, &run).await? else {
        return Ok(Answer::ok(InfoView { common: None, nodes: None }));
    };
    let Some(common_id) = session.plan_get(plan).await?.map(|record| record.common_id) else {
        return Ok(Answer::ok(InfoView { common: None, nodes: None }));
    };
    let own = session.plan_nodes(plan).await?;
    let ids: Vec<DocumentId> = own.iter().map(|(_, id)| *id).chain([common_id]).collect();
    let documents = session.documents_get(&ids).await?;
    let mut secrets = Secrets::default();
    for document in documents.values() {
        secrets.add(document);
    }
    let shown = |id: DocumentId| {
        let mut document = Json::Object(documents.get(&id).cloned().unwrap_or_default());
        secrets.mask(&mut document);
        document
    };
    let nodes: JsonMap = own.into_iter().map(|(uid, id)| (uid, shown(id))).collect();
    Ok(Answer::ok(InfoView { common: Some(shown(common_id)), nodes: Some(Json::Object(nodes)) }))
}

/// The settings of the cluster as a run used them; null before it is planned
#[utoipa::path(
    get, path = "/api/v1/transactions/{id}/settings", params(("id" = i64, Path)),
    responses((status = 200, body = Option<Object>))
)]
pub(super) async fn transaction_settings(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<Json>> {
    let mut session = app.store.snapshot().await?;
    let run = require_run(&mut session, &login, path.id("id", RunId, "Transaction")?, "Transaction").await?;
    let settings = match plan_of(&mut session, &run).await? {
        Some(plan) => settings_of(&mut session, plan).await?,
        None => None,
    };
    Ok(Answer::ok(settings.map_or(Json::Null, |settings| json!({"editable": settings}))))
}

/// The networks as a run used them; null where the state has none
#[utoipa::path(
    get, path = "/api/v1/transactions/{id}/network_configuration", params(("id" = i64, Path)),
    responses((status = 200, body = Option<Object>))
)]
pub(super) async fn transaction_network_configuration(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<Json>> {
    let mut session = app.store.snapshot().await?;
    let run = require_run(&mut session, &login, path.id("id", RunId, "Transaction")?, "Transaction").await?;
    let networks = match plan_of(&mut session, &run).await? {
        Some(plan) => part_of(&mut session, plan, "network_metadata").await?,
        None => None,
    };
    Ok(Answer::ok(networks.unwrap_or(Json::Null)))
}

/// The plan of a run, or of the last of its parts that has one.
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

/// The settings in the state that a plan was made from.
pub(in crate::api) async fn settings_of(session: &mut Session, plan: PlanId) -> ApiResult<Option<Json>> {
    part_of(session, plan, "settings").await
}

async fn part_of(session: &mut Session, plan: PlanId, key: &str) -> ApiResult<Option<Json>> {
    let Some(record) = session.plan_get(plan).await? else { return Ok(None) };
    let documents = session.documents_get(&[record.common_id]).await?;
    let Some(common) = documents.get(&record.common_id) else { return Ok(None) };
    let mut secrets = Secrets::default();
    secrets.add(common);
    Ok(common.get(key).cloned().map(|mut part| {
        secrets.mask(&mut part);
        part
    }))
}
