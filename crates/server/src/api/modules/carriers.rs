//! Instances to which a module was applied, and reapplying it to them.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use stoker_api_types::modules::{CarrierCount, CarrierPage, CarrierRow, CarrierRows};
use stoker_model::{Json, Micros, Module};
use stoker_modules::ReapplyRequest;
use stoker_orchestrator::runs::start_drivers;
use stoker_services::clock;
use stoker_services::modules::instances::{self, ModuleInstance, instances_of};
use stoker_services::modules::records::module_find;

use super::fault::{FaultResult, Faults};
use super::instances::{Page, page};
use super::{json_of, who};
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::client::BaseUrl;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// List the instances of a module
///
/// Returns the instances to which the module was applied or, with `count_only`, their number per version of
/// the contents.
#[utoipa::path(
    get, path = "/v1.0/{tenant}/modules/{id}/instances",
    params(
        ("tenant" = String, Path), ("id" = String, Path), Page,
        ("count_only" = Option<String>, Query, description = "Return one row per `md5` in use (any value)"),
        ("include_clustered" = Option<String>, Query, description = "Accepted and ignored: no instance is clustered"),
    ),
    responses((status = 200, body = CarrierRows), Faults)
)]
pub(super) async fn module_instances(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    reached: BaseUrl,
    query: Query,
) -> FaultResult<ApiResponse<CarrierRows>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let module = module_find(&mut session, who, path.text("id")).await?;
    let carriers = instances_of(&mut session, who, &module).await?;
    if query.text("count_only").is_some() {
        let counts = counts(&module, &carriers).into_iter().map(CarrierRow::Count);
        return Ok(ApiResponse::ok(CarrierRows { instances: counts.collect(), links: Vec::new() }));
    }
    let instances = carriers.into_iter().map(|carrier| carrier.instance).collect();
    let base = format!("{}/v1.0/{}/modules/{}/instances", reached.0, path.text("tenant"), module.uuid);
    let CarrierPage { instances, links } = page(instances, &query, &base)?;
    let instances = instances.into_iter().map(|instance| CarrierRow::Instance(Box::new(instance))).collect();
    Ok(ApiResponse::ok(CarrierRows { instances, links }))
}

fn counts(module: &Module, carriers: &[ModuleInstance]) -> Vec<CarrierCount> {
    let mut by_md5: BTreeMap<&str, (usize, Micros, Micros)> = BTreeMap::new();
    for carrier in carriers {
        let at = carrier.updated_at;
        let row = by_md5.entry(&carrier.md5).or_insert((0, at, at));
        *row = (row.0 + 1, row.1.min(at), row.2.max(at));
    }
    let rows = by_md5.into_iter().map(|(md5, (instance_count, first, last))| CarrierCount {
        module_id: module.uuid.clone(),
        module_name: module.body.name.clone(),
        module_md5: md5.to_owned(),
        instance_count,
        current: md5 == module.body.md5,
        min_updated_date: clock::seconds(first),
        max_updated_date: clock::seconds(last),
    });
    rows.collect()
}

/// Reapply a module
///
/// Applies the module again to the instances that have it, in batches. Returns immediately; the work
/// continues in the background.
#[utoipa::path(
    put, path = "/v1.0/{tenant}/modules/{id}/instances", params(("tenant" = String, Path), ("id" = String, Path)),
    request_body(content = Json, example = json!({"reapply": {"batch_size": 10, "batch_delay": 5, "force": 0}})),
    responses((status = 202, description = "No body; the modules are reapplied in the background"), Faults)
)]
pub(super) async fn module_reapply(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Result<Document, ApiError>,
) -> FaultResult<StatusCode> {
    let who = who(&login, &path)?;
    let body = json_of(document);
    let mut writing = app.change(&login).await?;
    let module = module_find(&mut writing, who, path.text("id")).await?;
    let request = ReapplyRequest::read(&body?)?;
    let run = instances::module_reapply(&app.settings, writing, who, &module, &request).await?;
    start_drivers(&app.orchestrator, run.into_iter().collect());
    Ok(StatusCode::ACCEPTED)
}
