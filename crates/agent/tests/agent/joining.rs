//! Join requests against a fake HTTP server.

use stoker_agent::{Endpoint, JoinError, join};
use stoker_model::{Json, JsonMap};
use stoker_wire::join::{JoinRequest, JournalIdentity};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::rig::with_timeout;

/// Responds to one request and returns its head and body.
async fn respond(listener: &TcpListener, status: &str, body: &str) -> (String, Json) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut text = String::new();
    loop {
        let mut buffer = [0; 4096];
        let n_read = stream.read(&mut buffer).await.unwrap();
        text.push_str(&String::from_utf8_lossy(&buffer[..n_read]));
        if let Some((head, json)) = text.split_once("\r\n\r\n")
            && let Ok(json) = serde_json::from_str(json)
        {
            let response = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(response.as_bytes()).await.unwrap();
            return (head.to_owned(), json);
        }
    }
}

async fn send_join(
    status: &str,
    body: &str,
) -> (Result<stoker_wire::join::JoinResponse, JoinError>, String, Json) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/prefix/", listener.local_addr().unwrap());
    let endpoint = Endpoint::parse(&url, None).unwrap();
    let facts = JsonMap::from_iter([("cores".to_owned(), 2.into())]);
    let request =
        JoinRequest { token: "t0ken".to_owned(), node: "node-5".to_owned(), facts, ..JoinRequest::default() };
    let (result, (head, json)) =
        with_timeout(async { tokio::join!(join(&endpoint, &request), respond(&listener, status, body)) })
            .await;
    (result, head, json)
}

#[tokio::test]
async fn join_returns_a_credential() {
    let (result, head, json) =
        send_join("200 OK", r#"{"node_uid": "5", "credential": "c", "later": true}"#).await;
    let response = result.unwrap();
    assert_eq!((response.node_uid.as_str(), response.credential.as_str()), ("5", "c"));
    assert!(head.starts_with("POST /prefix/api/v1/agents/join HTTP/1.1"), "{head}");
    let expected =
        serde_json::json!({"token": "t0ken", "node": "node-5", "version": "", "facts": {"cores": 2}});
    assert_eq!(json, expected);
}

#[tokio::test]
async fn permanent_and_transient_failures_are_distinguished() {
    let (result, ..) = send_join("403 Forbidden", r#"{"message": "the token was used before"}"#).await;
    let error = result.unwrap_err();
    assert!(matches!(error, JoinError::Refused { .. }));
    assert!(error.to_string().ends_with("refused the join request: the token was used before"), "{error}");
    for (status, body) in
        [("200 OK", "hello"), ("200 OK", r#"{"node_uid": "", "credential": ""}"#), ("404 Not Found", "")]
    {
        assert!(matches!(send_join(status, body).await.0, Err(JoinError::Refused { .. })), "{status} {body}");
    }
    for status in ["503 Service Unavailable", "429 Too Many Requests"] {
        assert!(matches!(send_join(status, "").await.0, Err(JoinError::Unavailable { .. })), "{status}");
    }
    let endpoint = Endpoint::parse("http://127.0.0.1:1", None).unwrap();
    let request = JoinRequest { token: "hunter2".to_owned(), ..JoinRequest::default() };
    let error = with_timeout(join(&endpoint, &request)).await.unwrap_err();
    assert!(matches!(error, JoinError::Unavailable { .. }));
    assert!(!error.to_string().contains("hunter2"));
}

/// Servers of the previous version reject the key.
#[tokio::test]
async fn join_omits_the_journal_if_the_server_does_not_know_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::parse(&format!("http://{}", listener.local_addr().unwrap()), None).unwrap();
    let journal = JournalIdentity { id: "0af7".to_owned(), node_uid: Some("5".into()) };
    let request = JoinRequest { token: "t".to_owned(), journal: Some(journal), ..JoinRequest::default() };
    let server = async {
        let refusal = r#"{"message": "journal: unknown key `journal`"}"#;
        let (_, first) = respond(&listener, "400 Bad Request", refusal).await;
        let (_, second) = respond(&listener, "200 OK", r#"{"node_uid": "5", "credential": "c"}"#).await;
        (first, second)
    };
    let (joined, (first, second)) =
        Box::pin(with_timeout(async { tokio::join!(join(&endpoint, &request), server) })).await;
    assert_eq!(joined.unwrap().node_uid.as_str(), "5");
    assert_eq!(first["journal"], serde_json::json!({"id": "0af7", "node_uid": "5"}));
    assert_eq!(second.get("journal"), None);
}
