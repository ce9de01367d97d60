//! Enrollment of an agent with a join token, once per agent.

use stoker_wire::join::{JOIN_PATH, JoinRequest, JoinResponse};

use crate::endpoint::Endpoint;
use crate::http::{HttpError, Reply, post};

#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Transient failure; a retry may succeed.
    #[error("cannot reach {server}")]
    Unavailable { server: String, source: HttpError },
    /// Permanent failure. A malformed response has a source error: the server uses another protocol.
    #[error("{server} refused the join request: {reason}")]
    Refused { server: String, reason: String, source: Option<serde_json::Error> },
}

/// Error of servers of the previous version, which reject request keys that they do not know.
const JOURNAL_UNKNOWN: &str = "unknown key `journal`";

pub async fn join(endpoint: &Endpoint, request: &JoinRequest) -> Result<JoinResponse, JoinError> {
    match send_request(endpoint, request).await {
        Err(JoinError::Refused { reason, .. }) if reason.contains(JOURNAL_UNKNOWN) => {
            send_request(endpoint, &JoinRequest { journal: None, ..request.clone() }).await
        }
        result => result,
    }
}

async fn send_request(endpoint: &Endpoint, request: &JoinRequest) -> Result<JoinResponse, JoinError> {
    let server = endpoint.to_string();
    let refused = |reason: String| JoinError::Refused { server: endpoint.to_string(), reason, source: None };
    let malformed = |what: &str, source| JoinError::Refused {
        server: endpoint.to_string(),
        reason: format!("malformed {what}"),
        source: Some(source),
    };
    let body = serde_json::to_vec(request).map_err(|error| malformed("request", error))?;
    let body = match post(endpoint, JOIN_PATH, None, body).await {
        Reply::Success(body) => body,
        Reply::Unavailable(source) => return Err(JoinError::Unavailable { server, source }),
        Reply::Refused(reason) => return Err(refused(reason)),
    };
    let response: JoinResponse =
        serde_json::from_slice(&body).map_err(|error| malformed("response", error))?;
    if response.node_uid.as_str().is_empty() || response.credential.is_empty() {
        return Err(refused("response without node UID or credential".to_owned()));
    }
    Ok(response)
}
