//! Joining: an agent exchanges a join token for its own credential.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use stoker_manifest::reader::{json_map, nullable, string_with_length};
use stoker_model::JsonMap;
use utoipa::ToSchema;

use super::certificate::REQUEST_MAX;
use crate::access::token::Secret;
use crate::http::response::ApiResponse;
use crate::http::body::SmallDocument;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};
use crate::joining::{Credential, GUESSING, Join};
use crate::state::App;

#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct JoinBody {
    /// Join token.
    #[schema(example = "stk_…")]
    token: String,
    /// Node that the agent runs on: ID, hostname, name or MAC address; `master` for the master. If omitted,
    /// the node with the MAC address in `facts`, which is created if it does not exist.
    #[schema(example = "node-7")]
    node: Option<String>,
    /// Version of the agent.
    #[schema(example = "0.1.0")]
    version: Option<String>,
    /// PKCS #10 certificate signing request in PEM format, with an ECDSA P-256 key. Ignored if the server has
    /// no certificate authority.
    #[schema(example = "-----BEGIN CERTIFICATE REQUEST-----…")]
    certificate_request: Option<String>,
    /// Facts about the machine of the agent.
    #[schema(value_type = Object, example = json!({"hostname": "node-7", "mac": "52:54:00:12:34:56"}))]
    facts: JsonMap,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Joined)]
pub(super) struct JoinedView {
    /// UID of the node, which identifies the agent from now on.
    #[schema(example = "7")]
    node_uid: String,
    /// Credential with which the agent authenticates. Only returned in this response.
    #[schema(example = "stk_…")]
    credential: String,
    /// Client certificate in PEM format, followed by the certificate of the CA. Only present if it was
    /// requested and the server has a certificate authority.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<String>,
}

/// Join as an agent
///
/// Called by agents. Exchanges a join token for the credential of the agent of one node.
#[utoipa::path(
    post, path = "/api/v1/agents/join", request_body = JoinBody,
    responses(
        (status = 201, body = JoinedView),
        (status = 401, body = crate::http::error::Envelope, description = "Unknown, expired or exhausted token"),
        (status = 403, body = crate::http::error::Envelope, description = "The node already has an agent, and the token does not allow replacing it"),
        (status = 409, body = crate::http::error::Envelope, description = "Several nodes have this name"),
        (status = 429, body = crate::http::error::Envelope, description = "Too many invalid tokens"),
    )
)]
pub(super) async fn agent_join(
    State(app): State<App>,
    peer: Peer,
    document: SmallDocument,
) -> ApiResult<ApiResponse<JoinedView>> {
    let join = document.0.fields(|fields| {
        let token = fields.required("token", string_with_length(1..=255));
        let node = fields.optional("node", nullable(string_with_length(1..=255))).flatten();
        let version = fields.optional("version", nullable(string_with_length(1..=255))).flatten();
        let certificate_request =
            fields.optional("certificate_request", nullable(string_with_length(1..=REQUEST_MAX))).flatten();
        let facts = fields.optional("facts", nullable(json_map)).flatten().unwrap_or_default();
        let version = version.unwrap_or_default();
        Some(Join { token: Secret::new(&token?), node, version, certificate_request, facts })
    })?;
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
