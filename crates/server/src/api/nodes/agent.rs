//! Heartbeats of nodes.

use axum::extract::State;
use stoker_api_types::Request as _;
use stoker_api_types::nodes::{ReportBody, ReportView};
use stoker_manifest::reader::Fields;
use stoker_model::NodeId;
use stoker_services::nodes::{self, NodeReport};

use super::discover::rest;
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Report a node heartbeat
///
/// Called by agents. Marks the node as online and updates its inventory and facts if they changed.
#[utoipa::path(
    put, path = "/api/v1/nodes/agent", request_body = ReportBody,
    responses((status = 200, body = ReportView), (status = 404, body = stoker_api_types::error::Envelope, description = "The node does not exist: create it first"))
)]
pub(super) async fn node_report(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<ReportView>> {
    let report = document.fields(read_report)?;
    let reported = nodes::node_report(&app.store, app.clock, &login.actor(), &report).await?;
    Ok(ApiResponse::ok(ReportView { id: reported.id.0, cached: reported.is_cached.then_some(true) }))
}

fn read_report(fields: &mut Fields<'_, '_>) -> Option<NodeReport> {
    let body = ReportBody::read(fields)?;
    // A node cannot change its own lifecycle or names.
    fields.ignore(&["status", "online", "is_agent", "name", "hostname"]);
    Some(NodeReport {
        id: body.id.map(NodeId),
        mac: body.mac,
        checksum: body.agent_checksum,
        ip: body.ip,
        meta: body.meta,
        manufacturer: body.manufacturer,
        platform_name: body.platform_name,
        os_platform: body.os_platform,
        facts: rest(fields),
    })
}
