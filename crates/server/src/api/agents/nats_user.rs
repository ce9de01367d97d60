//! Issues NATS user credentials to agents, so that they can exchange messages with servers over NATS.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use stoker_api_types::agents::NatsUserView;
use stoker_model::ErrorChain;

use super::connect::authenticate;
use crate::http::client::{Peer, TlsClient};
use crate::http::error::{ApiError, ApiResult};
use crate::http::response::ApiResponse;
use crate::state::App;

/// Create a NATS user
///
/// Called by agents. Creates a short-lived NATS user for the agent.
#[utoipa::path(
    post, path = "/api/v1/agents/nats_user",
    responses(
        (status = 200, body = NatsUserView),
        (status = 401, body = stoker_api_types::error::Envelope),
        (status = 404, body = stoker_api_types::error::Envelope, description = "Agent connections over NATS are not enabled"),
        (status = 429, body = stoker_api_types::error::Envelope, description = "Too many invalid credentials"),
    )
)]
pub(super) async fn agent_nats_user(
    State(app): State<App>,
    peer: Peer,
    secured: Option<Extension<TlsClient>>,
    headers: HeaderMap,
) -> ApiResult<ApiResponse<NatsUserView>> {
    // Requires the same authentication as a WebSocket session, because the user grants the same access.
    let (agent, _) = authenticate(&app, peer, secured.map(|Extension(secured)| secured), &headers).await?;
    let users = app.orchestrator.nats_users.as_ref().ok_or_else(|| {
        let message = "agent connections over NATS are not enabled; start the server with `--nats-keys` or the agent without `--nats`";
        ApiError::new(StatusCode::NOT_FOUND, message)
    })?;
    let digest = app.store.read().await?.agent_digest(&agent.uid).await?;
    let digest =
        digest.ok_or_else(|| ApiError::unauthorized("unknown credential; join again with a new token"))?;
    let user = users.issue(&agent.uid, &digest, app.clock.now()).map_err(|error| {
        tracing::error!(error = %ErrorChain(&error), "cannot create a NATS user");
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "cannot create a NATS user")
    })?;
    Ok(ApiResponse::ok(NatsUserView {
        jwt: user.jwt,
        seed: user.seed,
        key: user.key,
        expires_in_seconds: user.expires_in_seconds,
    }))
}
