//! Instances: nodes that belong to a cluster.

use axum::extract::State;
use axum::http::StatusCode;
use stoker_api_types::modules::{CarrierEnvelope, CarrierPage, PageLink};
use stoker_model::NodeId;
use stoker_modules::RuleViolation;
use stoker_services::modules::instances::{self, NodeInstance};
use utoipa::IntoParams;

use super::fault::{FaultResult, Faults};
use super::{view, who};
use crate::access::caller::Authenticated;
use crate::http::client::BaseUrl;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

const PAGE_MAX: usize = 20;

/// Page of a list of instances.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "documents the query, which is parsed field by field to report every problem")]
pub(super) struct Page {
    /// Maximum number of instances to return (default and maximum 20).
    #[param(minimum = 1)]
    limit: Option<i64>,
    /// Return only instances after the one with this ID.
    marker: Option<String>,
}

/// Returns one page of instances, with a link to the next page if there is one.
pub(super) fn page(mut instances: Vec<NodeInstance>, query: &Query, base: &str) -> FaultResult<CarrierPage> {
    let limit = match query.text("limit") {
        None => PAGE_MAX,
        Some(text) => match text.parse::<usize>() {
            Ok(limit) if limit > 0 => limit.min(PAGE_MAX),
            _ => {
                return Err(
                    RuleViolation::bad_request(format!("limit '{text}' is not a positive number")).into()
                );
            }
        },
    };
    if let Some(marker) = query.text("marker") {
        let Some(marker) = NodeId::parse(marker) else {
            return Err(RuleViolation::bad_request(format!("marker '{marker}' is not an instance ID")).into());
        };
        instances.retain(|instance| instance.node.id > marker);
    }
    let has_more = instances.len() > limit;
    instances.truncate(limit);
    let next = instances.last().filter(|_| has_more).map(|last| PageLink {
        rel: "next".to_owned(),
        href: format!("{base}?marker={}&limit={limit}", last.node.id),
    });
    Ok(CarrierPage {
        instances: instances.iter().map(view::instance).collect(),
        links: next.into_iter().collect(),
    })
}

/// List instances
///
/// Returns the instances of the caller's tenant.
#[utoipa::path(
    get, path = "/v1.0/{tenant}/instances",
    params(
        ("tenant" = String, Path), Page,
        ("include_clustered" = Option<String>, Query, description = "Accepted and ignored: no instance is clustered"),
    ),
    responses((status = 200, body = CarrierPage), Faults)
)]
pub(super) async fn instance_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    reached: BaseUrl,
    query: Query,
) -> FaultResult<ApiResponse<CarrierPage>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let instances = instances::instance_list(&mut session, who).await?;
    let base = format!("{}/v1.0/{}/instances", reached.0, path.text("tenant"));
    Ok(ApiResponse::ok(page(instances, &query, &base)?))
}

/// Retrieve an instance
#[utoipa::path(
    get, path = "/v1.0/{tenant}/instances/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = CarrierEnvelope), Faults)
)]
pub(super) async fn instance_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<ApiResponse<CarrierEnvelope>> {
    let who = who(&login, &path)?;
    let mut session = app.store.read().await?;
    let instance = NodeInstance::find(&mut session, who, path.text("id")).await?;
    Ok(ApiResponse::ok(CarrierEnvelope { instance: view::instance(&instance) }))
}

/// Delete an instance
///
/// Removes the node from its cluster. Fails while a run of the cluster is active.
#[utoipa::path(
    delete, path = "/v1.0/{tenant}/instances/{id}", params(("tenant" = String, Path), ("id" = String, Path)),
    responses((status = 202, description = "No body"), Faults)
)]
pub(super) async fn instance_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> FaultResult<StatusCode> {
    let who = who(&login, &path)?;
    let mut writing = app.change(&login).await?;
    let instance = NodeInstance::find(&mut writing, who, path.text("id")).await?;
    instances::instance_delete(writing, instance).await?;
    Ok(StatusCode::ACCEPTED)
}
