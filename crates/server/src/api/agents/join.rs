//! Joining: an agent exchanges a join token for its credential.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use stoker_api_types::agents::{JoinBody, JoinedView, JournalBody};
use stoker_model::AgentUid;
use stoker_services::nodes::AgentOrigin;

use crate::access::token::Secret;
use crate::http::body::SmallDocument;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};
use crate::http::response::ApiResponse;
use crate::joining::{Credential, GUESSING, Join};
use crate::state::App;

/// Join as an agent
///
/// Called by agents. Exchanges a join token for the credential of the agent of one node. An agent without the journal
/// of the previous agent of the node, or on a machine with another machine ID, replaces the machine: the applied
/// states of the node become invalid, and the next run deploys it as a new node.
#[utoipa::path(
    post, path = "/api/v1/agents/join", request_body = JoinBody,
    responses(
        (status = 201, body = JoinedView),
        (status = 401, body = stoker_api_types::error::Envelope, description = "Unknown, expired or exhausted token"),
        (status = 403, body = stoker_api_types::error::Envelope, description = "The node already has an agent, and the token does not allow replacing it"),
        (status = 409, body = stoker_api_types::error::Envelope, description = "Several nodes have this name"),
        (status = 429, body = stoker_api_types::error::Envelope, description = "Too many invalid tokens"),
    )
)]
pub(super) async fn agent_join(
    State(app): State<App>,
    peer: Peer,
    document: SmallDocument,
) -> ApiResult<ApiResponse<JoinedView>> {
    let JoinBody { token, node, version, certificate_request, facts, journal } = document.0.request()?;
    let facts = facts.unwrap_or_default();
    let origin = match journal {
        Some(JournalBody { id, node_uid }) => {
            let journal_node = node_uid.map(AgentUid::from);
            AgentOrigin { journal_node, ..AgentOrigin::new(Some(id), &facts) }
        }
        None => AgentOrigin::new(None, &facts),
    };
    let join = Join {
        token: Secret::new(&token),
        node,
        version: version.unwrap_or_default(),
        certificate_request,
        facts,
        origin,
    };
    let now = app.clock.now();
    if let Err(seconds) = app.access.failures.check(GUESSING, peer.0, now) {
        let error =
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too many invalid join tokens; try again later");
        return Err(error.with_header(header::RETRY_AFTER, HeaderValue::from(seconds)));
    }
    let Credential { node_uid, secret, certificate } = app.joining.join(join, peer).await?;
    let credential = secret.reveal().to_owned();
    Ok(ApiResponse::created(JoinedView { node_uid, credential, certificate }))
}
