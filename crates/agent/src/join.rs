//! Becoming known to a server: once, with a token.

use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use stoker_model::Json;
use stoker_wire::join::{JoinAnswer, JoinRequest, PATH};

use crate::endpoint::Endpoint;

/// How long a server may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// More than an answer can be.
const ANSWER_BYTES_MAX: usize = 64 << 10;

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
    let away = |reason: String| JoinError::Away { server: endpoint.to_string(), reason };
    let asking = tokio::time::timeout(ANSWER_MAX, post(endpoint, request));
    let (status, body) = asking.await.map_err(|_| away("no answer".to_owned()))?.map_err(away)?;
    let refused = |reason: String| JoinError::Refused { server: endpoint.to_string(), reason };
    if status.is_success() {
        let answer: JoinAnswer = serde_json::from_slice(&body)
            .map_err(|error| refused(format!("its answer makes no sense ({error})")))?;
        if answer.node_uid.is_empty() || answer.credential.is_empty() {
            return Err(refused("its answer has no uid or no credential".to_owned()));
        }
        return Ok(answer);
    }
    // A server that is starting or overloaded has not judged the token.
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Err(away(format!("it answers {status}")));
    }
    let message = serde_json::from_slice::<Json>(&body).ok();
    let message = message.as_ref().and_then(|json| json.get("message")).and_then(Json::as_str);
    Err(refused(message.map_or_else(|| format!("it answers {status}"), str::to_owned)))
}

async fn post(endpoint: &Endpoint, request: &JoinRequest) -> Result<(StatusCode, Bytes), String> {
    let stream = endpoint.connect().await?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|error| error.to_string())?;
    let driving = tokio::spawn(connection);
    let body = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    let request = Request::post(endpoint.path(PATH))
        .header(header::HOST, endpoint.authority())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| error.to_string())?;
    let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
    driving.abort();
    Ok((status, body.map_err(|error| error.to_string())?.to_bytes()))
}
