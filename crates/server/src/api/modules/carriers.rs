//! Instances to which a module was applied, and reapplying it to them.

use std::collections::{BTreeMap, HashMap};
use stoker_orchestrator::runs::start_drivers;

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use stoker_model::{Json, Micros, Module, Node, NodeId};
use stoker_modules::reapply::{self, AppliedInstance, ReapplyLimits};
use stoker_modules::{ReapplyRequest, Requester, is_compatible};
use stoker_services::clock;
use stoker_services::modules;
use stoker_store::{List, NodeFilter, Session};

use super::fault::{FaultResult, Faults};
use super::instances::{ClusterCache, Instance, Page, page};
use super::{describe, json_of, module_of, view, who};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::client::BaseUrl;
use crate::http::error::ApiError;
use crate::http::path::PathParams;
use crate::http::query::Query;
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
    responses((status = 200, body = Json), Faults)
)]
pub(super) async fn module_instances(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    reached: BaseUrl,
    query: Query,
) -> FaultResult<ApiResponse<Json>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let module = module_of(&mut session, who, path.text("id")).await?;
    let carriers = carriers(&mut session, who, &module).await?;
    if query.text("count_only").is_some() {
        return Ok(ApiResponse::ok(json!({"instances": counts(&module, &carriers)})));
    }
    let instances = carriers.into_iter().map(|carrier| carrier.instance).collect();
    let base = format!("{}/v1.0/{}/modules/{}/instances", reached.0, path.text("tenant"), module.uuid);
    Ok(ApiResponse::ok(page(instances, &query, &base)?))
}

struct ModuleInstance {
    instance: Instance,
    md5: String,
    updated_at: Micros,
}

/// Returns the instances with this module that the caller may see.
async fn carriers(session: &mut Session, who: Requester, module: &Module) -> FaultResult<Vec<ModuleInstance>> {
    let carriers = session.module_nodes(&module.uuid).await?;
    let ids = carriers.iter().map(|carrier| carrier.node_id).collect();
    let filter = NodeFilter { ids: Some(ids), ..NodeFilter::default() };
    let nodes = session.node_list(&filter, &List::default()).await?.items;
    let mut nodes: HashMap<NodeId, Node> = nodes.into_iter().map(|node| (node.id, node)).collect();
    let (mut cache, mut instances) = (ClusterCache::default(), Vec::new());
    for carrier in carriers {
        let Some(node) = nodes.remove(&carrier.node_id) else { continue };
        let instance = cache.instance(session, node).await?.filter(|instance| instance.is_for(who));
        if let Some(instance) = instance {
            instances.push(ModuleInstance {
                instance,
                md5: carrier.body.md5,
                updated_at: carrier.updated_at,
            });
        }
    }
    Ok(instances)
}

fn counts(module: &Module, carriers: &[ModuleInstance]) -> Vec<Json> {
    let mut by_md5: BTreeMap<&str, (usize, Micros, Micros)> = BTreeMap::new();
    for carrier in carriers {
        let at = carrier.updated_at;
        let row = by_md5.entry(&carrier.md5).or_insert((0, at, at));
        *row = (row.0 + 1, row.1.min(at), row.2.max(at));
    }
    let rows = by_md5.into_iter().map(|(md5, (count, first, last))| {
        json!({
            "module_id": module.uuid,
            "module_name": module.body.name,
            "module_md5": md5,
            "instance_count": count,
            "current": md5 == module.body.md5,
            "min_updated_date": clock::seconds(first),
            "max_updated_date": clock::seconds(last),
        })
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
    let module = module_of(&mut writing, who, path.text("id")).await?;
    let request = ReapplyRequest::read(&body?)?;
    let carriers: Vec<AppliedInstance<NodeId>> = carriers(&mut writing, who, &module)
        .await?
        .into_iter()
        .map(|ModuleInstance { instance, md5, .. }| {
            let release = &instance.release.body;
            AppliedInstance { node: instance.node.id, md5, fits: is_compatible(&module.body, &release.name, &release.version) }
        })
        .collect();
    let settings = &app.settings.modules;
    let limits =
        ReapplyLimits { batch_size: settings.batch_size.into(), batch_delay_s: settings.batch_delay_seconds.into() };
    let batches = reapply::plan_batches(carriers, &module.body.md5, &request, limits, who.is_admin);
    let mut change = describe("module.reapply", &module);
    change.detail["n_instances"] = batches.batches.iter().map(Vec::len).sum::<usize>().into();
    change.detail["n_current"] = batches.n_current.into();
    change.detail["n_unfit"] = batches.n_unfit.into();
    let run = modules::reapply::enqueue(&mut writing, &module, &batches).await?;
    writing.commit(change).await?;
    start_drivers(&app.orchestrator, run.into_iter().collect());
    Ok(StatusCode::ACCEPTED)
}

/// Renders instances with [`view::instance`].
pub(super) fn render_instances(instances: &[Instance]) -> Vec<Json> {
    instances.iter().map(view::instance).collect()
}
