//! Becoming known to a server.

use stoker_agent::{Endpoint, JoinError, join};
use stoker_model::{Json, JsonMap};
use stoker_wire::join::JoinRequest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::rig::patient;

/// Answers one request, and returns it.
async fn answer(listener: TcpListener, status: &str, body: &str) -> (String, Json) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut text = String::new();
    loop {
        let mut buffer = [0; 4096];
        let n_read = stream.read(&mut buffer).await.unwrap();
        text.push_str(&String::from_utf8_lossy(&buffer[..n_read]));
        if let Some((head, json)) = text.split_once("\r\n\r\n")
            && let Ok(json) = serde_json::from_str(json)
        {
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
            return (head.to_owned(), json);
        }
    }
}

async fn joined(
    status: &str,
    body: &str,
) -> (Result<stoker_wire::join::JoinAnswer, JoinError>, String, Json) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/prefix/", listener.local_addr().unwrap());
    let endpoint = Endpoint::parse(&url, None).unwrap();
    let facts = JsonMap::from_iter([("cores".to_owned(), 2.into())]);
    let request =
        JoinRequest { token: "t0ken".to_owned(), node: "node-5".to_owned(), facts, ..JoinRequest::default() };
    let (result, (head, json)) =
        patient(async { tokio::join!(join(&endpoint, &request), answer(listener, status, body)) }).await;
    (result, head, json)
}

#[tokio::test]
async fn a_token_becomes_a_credential() {
    let (result, head, json) =
        joined("200 OK", r#"{"node_uid": "5", "credential": "c", "later": true}"#).await;
    let answer = result.unwrap();
    assert_eq!((answer.node_uid.as_str(), answer.credential.as_str()), ("5", "c"));
    assert!(head.starts_with("POST /prefix/api/v1/agents/join HTTP/1.1"), "{head}");
    let wanted =
        serde_json::json!({"token": "t0ken", "node": "node-5", "version": "", "facts": {"cores": 2}});
    assert_eq!(json, wanted);
}

#[tokio::test]
async fn answers_that_are_final_and_those_that_are_not() {
    let (result, ..) = joined("403 Forbidden", r#"{"message": "the token was used before"}"#).await;
    let error = result.unwrap_err();
    assert!(matches!(error, JoinError::Refused { .. }));
    assert!(
        error.to_string().ends_with("does not let this agent join: the token was used before"),
        "{error}"
    );
    for (status, body) in
        [("200 OK", "hello"), ("200 OK", r#"{"node_uid": "", "credential": ""}"#), ("404 Not Found", "")]
    {
        assert!(matches!(joined(status, body).await.0, Err(JoinError::Refused { .. })), "{status} {body}");
    }
    for status in ["503 Service Unavailable", "429 Too Many Requests"] {
        assert!(matches!(joined(status, "").await.0, Err(JoinError::Away { .. })), "{status}");
    }
    let endpoint = Endpoint::parse("http://127.0.0.1:1", None).unwrap();
    let request = JoinRequest { token: "hunter2".to_owned(), ..JoinRequest::default() };
    let error = patient(join(&endpoint, &request)).await.unwrap_err();
    assert!(matches!(error, JoinError::Away { .. }));
    assert!(!error.to_string().contains("hunter2"));
}
