//! The client against misbehaving servers, and against a TLS server.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use stoker_client::{Address, ApiToken, Body, Client, ClientError, Method, RestRequest};
use stoker_testkit::TempFolder;

/// Maximum number of reported requests that a test has not received yet.
pub(crate) const REQUESTS_MAX: usize = 1024;

/// Reads a request with its body and writes a response.
pub(crate) fn converse(mut stream: impl Read + Write, answer: &str) -> Option<String> {
    let mut head = String::new();
    let mut body = Vec::new();
    {
        let mut reader = BufReader::new(&mut stream);
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let length = head.to_lowercase().lines().find_map(|line| {
            line.strip_prefix("content-length: ").and_then(|length| length.trim().parse::<usize>().ok())
        });
        body.resize(length.unwrap_or(0), 0);
        reader.read_exact(&mut body).ok()?;
    }
    stream.write_all(answer.as_bytes()).ok()?;
    stream.flush().ok()?;
    Some(format!("{head}{}", String::from_utf8_lossy(&body)))
}

/// Returns a server that sends the same response to every request, and reports the requests.
pub(crate) fn server(
    answer: String,
    accept: impl Fn(TcpStream, &str) -> Option<String> + Send + 'static,
) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, receiver) = sync_channel(REQUESTS_MAX);
    thread::spawn(move || {
        for stream in listener.incoming() {
            if let Some(request) = accept(stream.unwrap(), &answer) {
                _ = sender.send(request);
            }
        }
    });
    (address, receiver)
}

fn plain(answer: String) -> (Client, Receiver<String>) {
    let (address, requests) = server(answer, converse);
    let client = Client::new(Address::parse(&address).unwrap(), None).unwrap();
    (client.with_token(Some(ApiToken::new("secret".to_owned()))), requests)
}

pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn request_has_token_and_body() {
    let headers = "Content-Type: application/json\r\nContent-Range: objects 0-0/42\r\n";
    let (client, requests) = plain(answer("200 OK", headers, "[1]"));
    let request = RestRequest::new(Method::Post, "graphs").query("a", 1).body(Body::Yaml("- id: x\n"));
    let got = client.send(&request).unwrap();
    assert_eq!((got.status, got.total, got.json().unwrap()), (200, Some(42), serde_json::json!([1])));
    let requests = requests.recv().unwrap().to_lowercase();
    for word in ["post /api/v1/graphs?a=1 http/1.1", "x-auth-token: secret", "application/x-yaml", "- id: x"]
    {
        assert!(requests.contains(word), "{word}: {requests}");
    }
}

#[test]
fn error_response_has_all_reasons() {
    let body = r#"{"message": "two", "errors": [{"path": "a", "message": "x"}, {"path": "b", "message": "y", "line": 3}]}"#;
    let (client, _) = plain(answer("400 Bad Request", "", body));
    let Err(ClientError::Rejected(refusal)) = client.send(&RestRequest::get("x")) else {
        panic!("not an error response")
    };
    assert_eq!((refusal.status, refusal.errors.len(), refusal.errors[1].line), (400, 2, Some(3)));
}

#[test]
fn redirects_are_not_followed() {
    let (elsewhere, asked_elsewhere) = server(answer("200 OK", "", "{}"), converse);
    let (client, requests) = plain(answer("302 Found", &format!("Location: http://{elsewhere}/\r\n"), ""));
    assert!(matches!(client.send(&RestRequest::get("x")), Err(ClientError::InvalidResponse { .. })));
    assert!(requests.recv().is_ok());
    assert!(asked_elsewhere.try_recv().is_err());
}

#[test]
fn invalid_responses_are_reported() {
    let (client, _) = plain(answer("200 OK", "", "<html>"));
    assert!(matches!(client.json(&RestRequest::get("x")), Err(ClientError::InvalidResponse { .. })));
    let (client, _) = plain(answer("204 No Content", "", ""));
    assert_eq!(client.json(&RestRequest::get("x")).unwrap(), serde_json::Value::Null);
    let (client, _) = plain("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut off".to_owned());
    assert!(matches!(client.send(&RestRequest::get("x")), Err(ClientError::Unreachable { .. })));
    let (client, _) = plain("nonsense\r\n\r\n".to_owned());
    assert!(matches!(client.send(&RestRequest::get("x")), Err(ClientError::Unreachable { .. })));
}

#[test]
fn event_stream_is_read_to_its_end() {
    let body =
        "id: 1\nevent: began\ndata: {\"seq\": 1}\n\n: alive\n\nid: 2\nevent: ended\ndata: {\"seq\": 2}\n\n";
    let (client, requests) = plain(answer("200 OK", "Content-Type: text/event-stream\r\n", body));
    let events: Vec<_> =
        client.events(RestRequest::get("runs/1/events")).unwrap().collect::<Result<_, _>>().unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["began", "ended"]);
    assert!(requests.recv().unwrap().contains("text/event-stream"));
}

/// Creates `cert.pem` and `key.pem` of a self-signed certificate for 127.0.0.1. Returns the configuration of a server that
/// presents it.
pub(crate) fn certificate(folder: &TempFolder) -> Arc<ServerConfig> {
    let openssl = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=stoker-test", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .arg(folder.file("key.pem"))
        .arg("-out")
        .arg(folder.file("cert.pem"))
        .output();
    assert!(
        openssl.is_ok_and(|output| output.status.success()),
        "`openssl` is missing; `apt-get install openssl`"
    );
    let certificate = CertificateDer::from_pem_file(folder.file("cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.file("key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Arc::new(config)
}

#[test]
fn certificate_is_trusted_only_with_ca_file() {
    let folder = TempFolder::new();
    let config = certificate(&folder);
    let (address, _asked) = server(answer("200 OK", "", r#"{"status": "ok"}"#), move |stream, answer| {
        let connection = ServerConnection::new(config.clone()).unwrap();
        converse(StreamOwned::new(connection, stream), answer)
    });
    let address = Address::parse(&format!("https://{address}")).unwrap();
    let trusting = Client::new(address.clone(), Some(&folder.file("cert.pem"))).unwrap();
    assert_eq!(trusting.json(&RestRequest::get("health")).unwrap()["status"], "ok");
    let strange = Client::new(address, None).unwrap();
    let error = strange.json(&RestRequest::get("health")).unwrap_err();
    assert!(
        matches!(error, ClientError::Unreachable { .. }) && error.to_string().contains("certificate"),
        "{error}"
    );
}
