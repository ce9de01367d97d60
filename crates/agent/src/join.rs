//! Enrollment of an agent with a join token, once per agent.

use stoker_wire::join::{JOIN_PATH, JoinRequest, JoinResponse};

use crate::endpoint::Endpoint;
use crate::http::{Reply, post};

#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Transient failure; a retry may succeed.
    #[error("cannot reach {server}: {reason}")]
    Unavailable { server: String, reason: String },
    /// Permanent failure.
    #[error("{server} refused the join request: {reason}")]
    Refused { server: String, reason: String },
}

pub async fn join(endpoint: &Endpoint, request: &JoinRequest) -> Result<JoinResponse, JoinError> {
    let server = endpoint.to_string();
    let refused = |reason: String| JoinError::Refused { server: endpoint.to_string(), reason };
    let body = serde_json::to_vec(request).map_err(|error| refused(error.to_string()))?;
    let body = match post(endpoint, JOIN_PATH, None, body).await {
        Reply::Success(body) => body,
        Reply::Unavailable(reason) => return Err(JoinError::Unavailable { server, reason }),
        Reply::Refused(reason) => return Err(refused(reason)),
    };
    let response: JoinResponse =
        serde_json::from_slice(&body).map_err(|error| refused(format!("malformed response ({error})")))?;
    if response.node_uid.is_empty() || response.credential.is_empty() {
        return Err(refused("response without node UID or credential".to_owned()));
    }
    Ok(response)
}
