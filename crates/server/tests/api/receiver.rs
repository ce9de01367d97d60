//! A webhook receiver: an HTTP server on an ephemeral port that records requests.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use ring::hmac;
use serde_json::Value;
use tokio::net::TcpListener;

pub(crate) const SECRET: &str = "a secret that both know";

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Message {
    pub(crate) fn body(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> String {
        self.headers[name].to_str().unwrap().to_owned()
    }

    /// Verifies the HMAC signature as a receiver would.
    pub(crate) fn is_signed_with(&self, secret: &str) -> bool {
        let signature = self.header("x-stoker-signature");
        let signature_bytes = hex::decode(signature.strip_prefix("sha256=").unwrap()).unwrap();
        let signed = [self.header("x-stoker-timestamp").as_bytes(), b".", &self.bytes].concat();
        hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), &signed, &signature_bytes).is_ok()
    }
}

/// Response of the receiver to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseMode {
    Status(u16),
    /// A temporary redirect to the URL of the receiver itself.
    Redirect,
    /// The receiver never responds.
    Hang,
}

#[derive(Clone, Default)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    messages: Arc<Mutex<Vec<Message>>>,
    /// Responses to the next requests; 204 when the queue is empty.
    responses: Arc<Mutex<VecDeque<ResponseMode>>>,
}

impl Receiver {
    pub(crate) async fn start(responses: &[ResponseMode]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook?key=1", listener.local_addr().unwrap());
        let receiver = Self { url, ..Self::default() };
        receiver.responses.lock().extend(responses);
        let router = Router::new().fallback(receive).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        self.messages.lock().clone()
    }

    /// Waits up to 20 seconds for at least this many messages.
    pub(crate) async fn wait_for(&self, n_messages: usize) -> Vec<Message> {
        for _ in 0..800 {
            let messages = self.messages();
            if messages.len() >= n_messages {
                return messages;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("received {} messages in time, expected {n_messages}", self.messages().len());
    }

    pub(crate) fn topics(&self) -> Vec<String> {
        self.messages().iter().map(|message| message.header("x-stoker-topic")).collect()
    }
}

async fn receive(State(receiver): State<Receiver>, headers: HeaderMap, bytes: Bytes) -> Response {
    receiver.messages.lock().push(Message { headers, bytes });
    let mode = receiver.responses.lock().pop_front().unwrap_or(ResponseMode::Status(204));
    match mode {
        ResponseMode::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        ResponseMode::Redirect => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, receiver.url.clone())]).into_response()
        }
        ResponseMode::Hang => std::future::pending().await,
    }
}
