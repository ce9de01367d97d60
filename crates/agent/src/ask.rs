//! One question to a server, one answer.

use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use stoker_model::Json;

use crate::endpoint::Endpoint;

/// How long a server may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// More than an answer can be.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// What a server said to a question.
#[derive(Debug)]
pub(crate) enum Asked {
    Answer(Bytes),
    /// Trying again may help.
    Away(String),
    /// It will not; what it says.
    Refused(String),
}

/// Posts a body, with a credential if there is one.
pub(crate) async fn ask(endpoint: &Endpoint, path: &str, credential: Option<&str>, body: Vec<u8>) -> Asked {
    let asking = tokio::time::timeout(ANSWER_MAX, post(endpoint, path, credential, body));
    let (status, body) = match asking.await {
        Ok(Ok(answered)) => answered,
        Ok(Err(reason)) => return Asked::Away(reason),
        Err(_) => return Asked::Away("no answer".to_owned()),
    };
    if status.is_success() {
        return Asked::Answer(body);
    }
    // A server that is starting or overloaded has judged nothing.
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Asked::Away(format!("it answers {status}"));
    }
    let message = serde_json::from_slice::<Json>(&body).ok();
    let message = message.as_ref().and_then(|json| json.get("message")).and_then(Json::as_str);
    Asked::Refused(message.map_or_else(|| format!("it answers {status}"), str::to_owned))
}

async fn post(
    endpoint: &Endpoint,
    path: &str,
    credential: Option<&str>,
    body: Vec<u8>,
) -> Result<(StatusCode, Bytes), String> {
    let stream = endpoint.connect().await?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|error| error.to_string())?;
    let driving = tokio::spawn(connection);
    let mut request = Request::post(endpoint.path(path))
        .header(header::HOST, endpoint.authority())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json");
    if let Some(credential) = credential {
        request = request.header(header::AUTHORIZATION, format!("Bearer {credential}"));
    }
    let request = request.body(Full::new(Bytes::from(body))).map_err(|error| error.to_string())?;
    let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
    driving.abort();
    Ok((status, body.map_err(|error| error.to_string())?.to_bytes()))
}
