//! Client certificates of agents: the first is issued when the agent joins, each later one before the
//! previous expires.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::string_with_length;
use stoker_model::{Actor, Agent, AuditChange, Micros};
use utoipa::ToSchema;

use super::connect::authenticate_credential;
use crate::http::response::ApiResponse;
use crate::http::body::SmallDocument;
use crate::http::client::{Peer, TlsClient};
use crate::http::error::{ApiError, ApiResult};
use crate::joining::issue_certificate;
use crate::state::App;

/// Maximum length of a certificate request in PEM format, in bytes; a P-256 request needs less than 1 KiB.
pub(super) const REQUEST_MAX: usize = 16 << 10;

#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct CertificateBody {
    /// PKCS #10 certificate signing request in PEM format, with an ECDSA P-256 key.
    #[schema(example = "-----BEGIN CERTIFICATE REQUEST-----…")]
    certificate_request: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AgentCertificate)]
pub(super) struct CertificateView {
    /// Certificate in PEM format, followed by the certificate of the CA.
    certificate: String,
}

/// Renew an agent certificate
///
/// Called by agents. Requires the credential of the agent and, while its current certificate is valid, that
/// certificate as TLS client certificate.
#[utoipa::path(
    post, path = "/api/v1/agents/certificate", request_body = CertificateBody,
    responses(
        (status = 201, body = CertificateView),
        (status = 401, body = crate::http::error::Envelope, description = "Unknown credential, or missing or revoked client certificate"),
        (status = 409, body = crate::http::error::Envelope, description = "The server has no certificate authority"),
        (status = 429, body = crate::http::error::Envelope, description = "Too many invalid credentials"),
    )
)]
pub(super) async fn agent_certificate(
    State(app): State<App>,
    peer: Peer,
    secured: Option<Extension<TlsClient>>,
    headers: HeaderMap,
    document: SmallDocument,
) -> ApiResult<ApiResponse<CertificateView>> {
    let agent = authenticate_credential(&app, peer, &headers).await?;
    let request =
        document.0.fields(|fields| fields.required("certificate_request", string_with_length(1..=REQUEST_MAX)))?;
    let now = app.clock.now();
    let actor = Actor { user_id: None, user_name: "agent".to_owned(), address: Some(peer.0.to_string()) };
    let mut writing = app.store.begin_write(&actor, now).await?;
    // The credential alone suffices only for an agent without a valid certificate: it joined before the
    // server had a CA, or its certificate expired while it was offline. Otherwise a stolen credential must
    // not yield a certificate.
    let expires_at = writing.agent_certificate_expiry(agent.id).await?;
    if expires_at.is_some_and(|at| at > now) {
        require(&mut writing, &agent, secured.map(|Extension(secured)| secured), now).await?;
    }
    let Some(certificate) = issue_certificate(app.tls.as_deref(), &mut writing, &agent, &request).await?
    else {
        return Err(ApiError::conflict(
            "this server has no certificate authority; start it with `stoker serve --ca-dir`",
        ));
    };
    let target = format!("agent {}", agent.id);
    writing.commit(AuditChange { action: "agent.certificate", target, detail: json!({"uid": agent.uid}) }).await?;
    Ok(ApiResponse::created(CertificateView { certificate }))
}

/// Requires a client certificate that was issued to this agent, is not expired and is not revoked.
pub(super) async fn require(
    session: &mut stoker_store::Session,
    agent: &Agent,
    secured: Option<TlsClient>,
    now: Micros,
) -> ApiResult<()> {
    let certificate = secured.and_then(|secured| secured.certificate);
    let certificate = certificate.ok_or_else(|| {
        ApiError::unauthorized(
            "a client certificate is required; request one with `POST /api/v1/agents/certificate`",
        )
    })?;
    if session.agent_certificate_is_valid(agent.id, certificate.bytes(), now).await? {
        Ok(())
    } else {
        Err(ApiError::unauthorized("the certificate is unknown, expired or revoked; join again"))
    }
}
