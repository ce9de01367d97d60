//! Certificates of agents: the first with joining, each further one before the last expires.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::string_of;
use stoker_model::{Actor, Agent, Change, Micros};
use utoipa::ToSchema;

use super::connect::agent_of;
use crate::http::answer::Answer;
use crate::http::body::SmallDocument;
use crate::http::client::{Peer, Secured};
use crate::http::error::{ApiError, ApiResult};
use crate::joining::issue_certificate;
use crate::state::App;

/// As long as a request for a certificate may be.
pub(super) const REQUEST_MAX: usize = 16 << 10;

#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct CertificateBody {
    /// A PKCS #10 request in PEM form with a key of the kind ECDSA P-256.
    #[schema(example = "-----BEGIN CERTIFICATE REQUEST-----…")]
    certificate_request: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AgentCertificate)]
pub(super) struct CertificateView {
    /// In PEM form, with its authority.
    certificate: String,
}

/// The next certificate of an agent, which shows the one before, if that is still good, and its credential
#[utoipa::path(
    post, path = "/api/v1/agents/certificate", request_body = CertificateBody,
    responses(
        (status = 201, body = CertificateView),
        (status = 401, body = crate::http::error::Envelope, description = "The credential is not known, or the certificate is missing"),
        (status = 409, body = crate::http::error::Envelope, description = "The server has no certificate authority"),
        (status = 429, body = crate::http::error::Envelope, description = "Too many wrong credentials"),
    )
)]
pub(super) async fn agent_certificate(
    State(app): State<App>,
    peer: Peer,
    secured: Option<Extension<Secured>>,
    headers: HeaderMap,
    document: SmallDocument,
) -> ApiResult<Answer<CertificateView>> {
    let agent = agent_of(&app, peer, &headers).await?;
    let request =
        document.0.fields(|fields| fields.required("certificate_request", string_of(1..=REQUEST_MAX)))?;
    let now = app.clock.now();
    let actor = Actor { user_id: None, user_name: "agent".to_owned(), address: Some(peer.0.to_string()) };
    let mut writing = app.store.change(&actor, now).await?;
    // A credential alone is enough for an agent that has nothing else: it came before there was an authority, or it was
    // away for too long. Otherwise whoever has stolen the one needs the other as well.
    let expires_at = writing.agent_certificate_expiry(agent.id).await?;
    if expires_at.is_some_and(|at| at > now) {
        require(&mut writing, &agent, secured.map(|Extension(secured)| secured), now).await?;
    }
    let Some(certificate) = issue_certificate(app.tls.as_deref(), &mut writing, &agent, &request).await? else {
        return Err(ApiError::conflict("this server has no certificate authority (`stoker serve --ca-dir`)"));
    };
    let target = format!("agent {}", agent.id);
    writing.commit(Change { action: "agent.certificate", target, detail: json!({"uid": agent.uid}) }).await?;
    Ok(Answer::created(CertificateView { certificate }))
}

/// The agent shows a certificate that is its own and was not taken back.
pub(super) async fn require(
    session: &mut stoker_store::Session,
    agent: &Agent,
    secured: Option<Secured>,
    now: Micros,
) -> ApiResult<()> {
    let shown = secured.and_then(|secured| secured.certificate);
    let shown = shown.ok_or_else(|| {
        ApiError::unauthorized(
            "an agent of this server shows its certificate; ask for one (POST /api/v1/agents/certificate)",
        )
    })?;
    if session.agent_certificate_is_good(agent.id, shown.bytes(), now).await? {
        Ok(())
    } else {
        Err(ApiError::unauthorized("the certificate is not known or was taken back; join again"))
    }
}
