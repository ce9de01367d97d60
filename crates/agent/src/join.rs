//! Enrollment of an agent with a join token, once per agent.

use stoker_wire::join::{JoinAnswer, JoinRequest, PATH};

use crate::endpoint::Endpoint;
use crate::http::{HttpError, Reply, post};

#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Transient failure; a retry may succeed.
    #[error("cannot reach {server}")]
    Unavailable { server: String, source: HttpError },
    /// Permanent failure.
    #[error("{server} refused the join request: {reason}")]
    Refused { server: String, reason: String },
    /// The server speaks another protocol.
    #[error("malformed response from {server}")]
    Malformed { server: String, source: serde_json::Error },
}

pub async fn join(endpoint: &Endpoint, request: &JoinRequest) -> Result<JoinAnswer, JoinError> {
    let server = endpoint.to_string();
    let malformed = |source| JoinError::Malformed { server: endpoint.to_string(), source };
    let body = serde_json::to_vec(request).map_err(malformed)?;
    let body = match post(endpoint, PATH, None, body).await {
        Reply::Success(body) => body,
        Reply::Unavailable(source) => return Err(JoinError::Unavailable { server, source }),
        Reply::Refused(reason) => return Err(JoinError::Refused { server, reason }),
    };
    let response: JoinAnswer = serde_json::from_slice(&body).map_err(malformed)?;
    if response.node_uid.is_empty() || response.credential.is_empty() {
        let reason = "response without node UID or credential".to_owned();
        return Err(JoinError::Refused { server, reason });
    }
    Ok(response)
}
