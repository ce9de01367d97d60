//! An agent comes in: a token for a credential of its own.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use stoker_manifest::reader::{json_map, nullable, string_of};
use stoker_model::JsonMap;
use utoipa::ToSchema;

use super::certificate::REQUEST_MAX;
use crate::access::token::Secret;
use crate::http::answer::Answer;
use crate::http::body::SmallDocument;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};
use crate::joining::{Credential, GUESSING, Join};
use crate::state::App;

#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct JoinBody {
    #[schema(example = "stk_…")]
    token: String,
    /// Its node: id, hostname, name or MAC address; `master` for the master. Not given: the node with the MAC address
    /// in `facts`, which is made if there is none.
    #[schema(example = "node-7")]
    node: Option<String>,
    #[schema(example = "0.1.0")]
    version: Option<String>,
    /// A PKCS #10 request in PEM form with a key of the kind ECDSA P-256, for a certificate; where the server has no
    /// authority it means nothing.
    #[schema(example = "-----BEGIN CERTIFICATE REQUEST-----…")]
    certificate_request: Option<String>,
    /// What it found out about its machine.
    #[schema(value_type = Object, example = json!({"hostname": "node-7", "mac": "52:54:00:12:34:56"}))]
    facts: JsonMap,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Joined)]
pub(super) struct JoinedView {
    /// What it is called from now on.
    #[schema(example = "7")]
    node_uid: String,
    /// With what it connects; this answer is the only place where it can be read.
    #[schema(example = "stk_…")]
    credential: String,
    /// What it shows when it connects, in PEM form with its authority; there if it asked and the server has an authority.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<String>,
}

/// Come in as the agent of a node, with a join token
#[utoipa::path(
    post, path = "/api/v1/agents/join", request_body = JoinBody,
    responses(
        (status = 201, body = JoinedView),
        (status = 401, body = crate::http::error::Envelope, description = "The token is not good"),
        (status = 403, body = crate::http::error::Envelope, description = "Another agent is there, and the token lets none take its place"),
        (status = 409, body = crate::http::error::Envelope, description = "Several nodes have this name"),
        (status = 429, body = crate::http::error::Envelope, description = "Too many wrong tokens"),
    )
)]
pub(super) async fn agent_join(
    State(app): State<App>,
    peer: Peer,
    document: SmallDocument,
) -> ApiResult<Answer<JoinedView>> {
    let join = document.0.fields(|fields| {
        let token = fields.required("token", string_of(1..=255));
        let node = fields.optional("node", nullable(string_of(1..=255))).flatten();
        let version = fields.optional("version", nullable(string_of(1..=255))).flatten();
        let certificate_request =
            fields.optional("certificate_request", nullable(string_of(1..=REQUEST_MAX))).flatten();
        let facts = fields.optional("facts", nullable(json_map)).flatten().unwrap_or_default();
        let version = version.unwrap_or_default();
        Some(Join { token: Secret::new(&token?), node, version, certificate_request, facts })
    })?;
    let now = app.clock.now();
    if let Err(seconds) = app.access.failures.check(GUESSING, peer.0, now) {
        let error =
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too many wrong join tokens; try again later");
        return Err(error.with_header(header::RETRY_AFTER, HeaderValue::from(seconds)));
    }
    let Credential { node_uid, secret, certificate } = app.joining.join(join, peer).await?;
    let credential = secret.reveal().to_owned();
    Ok(Answer::created(JoinedView { node_uid, credential, certificate }))
}

