//! Becoming known to a server: once, with a token.

use stoker_wire::join::{JoinAnswer, JoinRequest, PATH};

use crate::ask::{Asked, ask};
use crate::endpoint::Endpoint;

#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Trying again may help.
    #[error("cannot reach {server}: {reason}")]
    Away { server: String, reason: String },
    /// It will not.
    #[error("{server} does not let this agent join: {reason}")]
    Refused { server: String, reason: String },
}

/// Asks for a membership.
pub async fn join(endpoint: &Endpoint, request: &JoinRequest) -> Result<JoinAnswer, JoinError> {
    let server = endpoint.to_string();
    let refused = |reason: String| JoinError::Refused { server: endpoint.to_string(), reason };
    let body = serde_json::to_vec(request).map_err(|error| refused(error.to_string()))?;
    let answer = match ask(endpoint, PATH, None, body).await {
        Asked::Answer(answer) => answer,
        Asked::Away(reason) => return Err(JoinError::Away { server, reason }),
        Asked::Refused(reason) => return Err(refused(reason)),
    };
    let answer: JoinAnswer = serde_json::from_slice(&answer)
        .map_err(|error| refused(format!("its answer makes no sense ({error})")))?;
    if answer.node_uid.is_empty() || answer.credential.is_empty() {
        return Err(refused("its answer has no uid or no credential".to_owned()));
    }
    Ok(answer)
}
