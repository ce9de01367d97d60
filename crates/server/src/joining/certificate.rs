//! Certificates of agents.

use axum::http::StatusCode;
use stoker_model::{Agent, ErrorChain, Micros, NewAgentCertificate};
use stoker_store::WriteTransaction;
use stoker_tls::TlsError;

use crate::http::error::{ApiError, ApiResult};
use crate::tls::Tls;

/// Issues a certificate and stores its fingerprint; `None` without a certificate authority.
pub(crate) async fn issue_certificate(
    tls: Option<&Tls>,
    writing: &mut WriteTransaction,
    agent: &Agent,
    request: &str,
) -> ApiResult<Option<String>> {
    let now = writing.now();
    let Some(issued) = tls.and_then(|tls| tls.issue_agent(request, &agent.uid, now)) else {
        return Ok(None);
    };
    let issued = issued.map_err(|error| match error {
        TlsError::Request(_) => ApiError::bad_request(format!("`certificate_request`: {error}")),
        other => {
            tracing::error!(error = %ErrorChain(&other), "cannot issue an agent certificate");
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "cannot issue the certificate")
        }
    })?;
    let certificate = &issued.certificate;
    let new = NewAgentCertificate {
        agent_id: agent.id,
        fingerprint: *certificate.fingerprint.bytes(),
        serial: certificate.serial.clone(),
        issued_at: now,
        expires_at: Micros(certificate.validity.not_after.saturating_mul(Micros::SECOND)),
    };
    writing.agent_certificate_add(&new).await?;
    Ok(Some(issued.chain_pem))
}
