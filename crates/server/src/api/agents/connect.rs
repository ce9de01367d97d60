//! The line over which an agent speaks with the server.

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::Agent;
use stoker_wire::{Decoded, WireError};
use stoker_orchestrator::Proof;
use stoker_orchestrator::session::{AgentTransport, converse};

use super::certificate;
use crate::access::token::Secret;
use crate::http::client::{Peer, Secured};
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Who guesses credentials is slowed down under this name.
const GUESSING: &str = "(agent)";
/// Held for each of ten thousand agents, most of which have nothing to say; larger messages take several reads.
const BUFFER_BYTES: usize = 4 << 10;

/// Speak with the server as an agent, over a WebSocket
#[utoipa::path(
    get, path = "/api/v1/agents/session",
    responses(
        (status = 101, description = "From here on both sides speak in messages"),
        (status = 401, body = crate::http::error::Envelope),
        (status = 429, body = crate::http::error::Envelope, description = "Too many wrong credentials"),
        (status = 426, body = crate::http::error::Envelope, description = "The request is none for a WebSocket"),
    )
)]
pub(super) async fn agent_connect(
    State(app): State<App>,
    peer: Peer,
    secured: Option<Extension<Secured>>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let secured = secured.map(|Extension(secured)| secured);
    let (agent, proof) = proven(&app, peer, secured, &headers).await?;
    let upgrade = upgrade.map_err(|rejection| {
        let message = format!("this is a WebSocket for agents: {rejection}");
        ApiError::new(StatusCode::UPGRADE_REQUIRED, message)
    })?;
    let bytes_max = stoker_wire::FROM_AGENT_BYTES_MAX;
    Ok(upgrade
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_message_size(bytes_max)
        .max_frame_size(bytes_max)
        .on_upgrade(
            move |socket| async move { converse(&app.orchestrator, &agent.uid, Some(proof), Socket(socket)).await },
        ))
}

/// The agent that shows all that this server wants to see: its credential, and its certificate where there is an authority.
/// With the digest of the credential.
pub(super) async fn proven(
    app: &App,
    peer: Peer,
    secured: Option<Secured>,
    headers: &HeaderMap,
) -> ApiResult<(Agent, Proof)> {
    let secret = secret_of(headers)?;
    let agent = agent_with(app, peer, &secret).await?;
    if app.tls.as_ref().is_some_and(|tls| tls.authority.is_some()) {
        let mut session = app.store.read().await?;
        certificate::require(&mut session, &agent, secured, app.clock.now()).await?;
    }
    Ok((agent, secret.digest()))
}

/// The agent whose credential came with a request.
pub(super) async fn agent_of(app: &App, peer: Peer, headers: &HeaderMap) -> ApiResult<Agent> {
    agent_with(app, peer, &secret_of(headers)?).await
}

fn secret_of(headers: &HeaderMap) -> ApiResult<Secret> {
    headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "))
        .map(|text| Secret::new(text.trim()))
        .ok_or_else(|| ApiError::unauthorized("an agent shows its credential: `Authorization: Bearer …`"))
}

async fn agent_with(app: &App, peer: Peer, secret: &Secret) -> ApiResult<Agent> {
    let agent = app.store.read().await?.agent_find(&secret.digest()).await?;
    agent.ok_or_else(|| unknown(app, peer))
}

/// Only failures are slowed down: after a restart of the server all agents behind one address come back at once.
fn unknown(app: &App, peer: Peer) -> ApiError {
    match app.access.failures.begin(GUESSING, peer.0, app.clock.now()) {
        Ok(()) => ApiError::unauthorized("the credential is not known; join again"),
        Err(seconds) => {
            let message = "too many wrong credentials; try again later";
            let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, message);
            error.with_header(header::RETRY_AFTER, seconds.into())
        }
    }
}

struct Socket(WebSocket);

impl AgentTransport for Socket {
    async fn receive(&mut self) -> Option<FromAgent> {
        loop {
            match self.0.recv().await?.ok()? {
                Message::Text(text) => match stoker_wire::decode_from_agent(&text) {
                    Ok(Decoded::Message(message)) => return Some(message),
                    // Of a newer agent, about something that this server does not know.
                    Ok(Decoded::Unknown) => {}
                    Err(error) => {
                        tracing::warn!(error = %error, "an agent said something that makes no sense");
                        if matches!(error, WireError::Version { .. }) {
                            let refusal = stoker_wire::encode_refusal(&error.to_string());
                            // Whoever does not hear it finds it in our log.
                            _ = self.0.send(Message::Text(refusal.into())).await;
                        }
                        return None;
                    }
                },
                Message::Close(_) => return None,
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) => {}
            }
        }
    }

    async fn send(&mut self, message: ToAgent) -> bool {
        self.0.send(Message::Text(stoker_wire::encode_to_agent(&message).into())).await.is_ok()
    }
}
