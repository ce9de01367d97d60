//! An agent asks for a user of NATS: its credential for a way around the servers.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

use super::connect::proven;
use crate::http::answer::Answer;
use crate::http::client::{Peer, Secured};
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

#[derive(Serialize, ToSchema)]
#[schema(as = NatsUser)]
pub(super) struct NatsUserView {
    /// Says who it is and what it may do: speak and listen under its own key.
    #[schema(example = "eyJ0eXAi…")]
    jwt: String,
    /// Proves it.
    #[schema(example = "SUAM…")]
    seed: String,
    /// How the user is called.
    #[schema(example = "UABC…")]
    key: String,
    #[schema(example = 43200)]
    expires_in_seconds: u64,
}

/// Get a user of NATS, as an agent
#[utoipa::path(
    post, path = "/api/v1/agents/nats_user",
    responses(
        (status = 200, body = NatsUserView),
        (status = 401, body = crate::http::error::Envelope),
        (status = 404, body = crate::http::error::Envelope, description = "Agents do not come over NATS here"),
        (status = 429, body = crate::http::error::Envelope, description = "Too many wrong credentials"),
    )
)]
pub(super) async fn agent_nats_user(
    State(app): State<App>,
    peer: Peer,
    secured: Option<Extension<Secured>>,
    headers: HeaderMap,
) -> ApiResult<Answer<NatsUserView>> {
    // As for a straight connection: it is good for the same conversation.
    let (agent, _) = proven(&app, peer, secured.map(|Extension(secured)| secured), &headers).await?;
    let users = app.orchestrator.nats_users.as_ref().ok_or_else(|| {
        let message = "agents do not come over NATS here; start the server with `--nats-keys`, or the agent without `--nats`";
        ApiError::new(StatusCode::NOT_FOUND, message)
    })?;
    let digest = app.store.read().await?.agent_digest(&agent.uid).await?;
    let digest = digest.ok_or_else(|| ApiError::unauthorized("the credential is not known; join again"))?;
    let user = users.of_agent(&agent.uid, &digest, app.clock.now()).map_err(|error| {
        tracing::error!(error = %error, "no user of NATS could be made");
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "no user of NATS could be made")
    })?;
    Ok(Answer::ok(NatsUserView {
        jwt: user.jwt,
        seed: user.seed,
        key: user.key,
        expires_in_seconds: user.expires_in_seconds,
    }))
}
