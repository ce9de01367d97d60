//! The messenger against slow, refusing and hostile receivers, and over TLS.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use rustls::{ServerConnection, StreamOwned};
use stoker_client::{HttpPoster, PostError};
use stoker_testkit::TempFolder;

use crate::client::{REQUESTS_MAX, answer, certificate, converse, server};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(20);

async fn post(time_max: Duration, url: &str) -> Result<u16, PostError> {
    let messenger = HttpPoster::new(time_max).unwrap();
    messenger.post(url, &[], b"{}".to_vec()).await.map(|status| status.as_u16())
}

/// Starts a receiver that reads a request and then calls `respond`; reports when that has returned.
fn receiver(respond: impl Fn(TcpStream) + Send + 'static) -> (String, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook?key=secret", listener.local_addr().unwrap());
    let (sender, closed) = sync_channel(REQUESTS_MAX);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            _ = stream.read(&mut [0; 4096]);
            respond(stream);
            _ = sender.send(());
        }
    });
    (url, closed)
}

/// Writes until the other side closes the connection.
fn write_forever(mut stream: &TcpStream, bytes: &[u8]) {
    while stream.write_all(bytes).is_ok() {}
}

/// Waits on another thread: the connection is closed by a task of this runtime.
async fn wait_until_closed(closed: Receiver<()>) {
    let waiting = tokio::task::spawn_blocking(move || closed.recv_timeout(LONG));
    waiting.await.unwrap().expect("the connection was not closed");
}

#[tokio::test]
async fn request_has_headers_and_body() {
    let (address, requests) = server(answer("202 Accepted", "", "ignored"), converse);
    let messenger = HttpPoster::new(LONG).unwrap();
    let headers = [("x-stoker-topic", "run.started".to_owned())];
    let status =
        messenger.post(&format!("http://{address}/hook?key=1"), &headers, b"{\"a\":1}".to_vec()).await;
    assert_eq!(status.unwrap().as_u16(), 202);
    let request = requests.recv().unwrap().to_lowercase();
    for word in [
        "post /hook?key=1 http/1.1",
        &format!("host: {address}"),
        "user-agent: stoker/",
        "content-type: application/json",
        "content-length: 7",
        "x-stoker-topic: run.started",
        "{\"a\":1}",
    ] {
        assert!(request.contains(word), "{word}: {request}");
    }
    assert!(!request.contains("authorization"), "{request}");
    let headers = [("content-type", "application/x-protobuf".to_owned())];
    messenger.post(&format!("http://user:secret@{address}/"), &headers, Vec::new()).await.unwrap();
    let request = requests.recv().unwrap().to_lowercase();
    assert_eq!(request.matches("content-type: ").count(), 1, "{request}");
    assert!(
        request.contains("application/x-protobuf") && request.contains("basic dxnlcjpzzwnyzxq="),
        "{request}"
    );
}

#[tokio::test]
async fn invalid_urls_are_rejected() {
    for url in ["", "nonsense", "/hook", "ftp://127.0.0.1/", "http://", "http://a b/", "file:///etc/passwd"] {
        let error = post(LONG, url).await.unwrap_err();
        assert!(matches!(error, PostError::Url | PostError::Request(_)), "{url}: {error}");
    }
    let headers = [("x", "a\nb".to_owned())];
    let error = HttpPoster::new(LONG).unwrap().post("http://127.0.0.1:9/", &headers, Vec::new()).await;
    assert!(matches!(error, Err(PostError::Request(_))));
}

#[tokio::test]
async fn receiver_that_refuses_connections_is_reported() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = post(LONG, &format!("http://user:opensesame@{address}/hook?key=secret")).await.unwrap_err();
    assert!(matches!(error, PostError::Unreachable { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains(&format!("http://{address}/hook")) && text.contains("refused"), "{text}");
    assert!(!text.contains("secret") && !text.contains("opensesame"), "{text}");
}

#[tokio::test]
async fn slow_receivers_time_out() {
    let (silent, closed) = receiver(|mut stream| _ = stream.read(&mut [0; 1]));
    let error = post(SHORT, &silent).await.unwrap_err();
    assert!(matches!(error, PostError::Timeout { .. }), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
    wait_until_closed(closed).await;
    let (dripping, closed) = receiver(|mut stream| {
        while stream.write_all(b"H").is_ok() {
            #[expect(clippy::disallowed_methods, reason = "a slow receiver")]
            thread::sleep(Duration::from_millis(20));
        }
    });
    assert!(post(SHORT, &dripping).await.is_err());
    wait_until_closed(closed).await;
}

#[tokio::test]
async fn dropped_request_closes_its_connection() {
    let (url, closed) = receiver(|mut stream| _ = stream.read(&mut [0; 1]));
    let request = tokio::spawn(async move { post(LONG, &url).await.map(drop).map_err(drop) });
    tokio::time::sleep(SHORT).await;
    request.abort();
    _ = request.await;
    wait_until_closed(closed).await;
}

#[tokio::test]
async fn huge_responses_are_not_read() {
    let (body, closed) = receiver(|mut stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        write_forever(&stream, &vec![b'a'; 1 << 16]);
    });
    assert_eq!(post(LONG, &body).await.unwrap(), 200);
    wait_until_closed(closed).await;
    for line in [b"x: aaaaaaaaaaaaaaaa\r\n".to_vec(), vec![b'a'; 1 << 16]] {
        let (head, closed) = receiver(move |mut stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\n").unwrap();
            write_forever(&stream, &line);
        });
        let error = post(LONG, &head).await.unwrap_err();
        assert!(matches!(error, PostError::Unreachable { .. }), "{error}");
        wait_until_closed(closed).await;
    }
}

#[tokio::test]
async fn invalid_responses_are_reported() {
    for bytes in [&b""[..], b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nx"] {
        let (url, _closed) = receiver(move |mut stream| stream.write_all(bytes).unwrap());
        let error = post(LONG, &url).await.unwrap_err();
        assert!(matches!(error, PostError::Unreachable { .. }), "{error}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (elsewhere, asked_elsewhere) = server(answer("200 OK", "", ""), converse);
    let location = format!("Location: http://{elsewhere}/\r\n");
    let (address, _) = server(answer("307 Temporary Redirect", &location, ""), converse);
    assert_eq!(post(LONG, &format!("http://{address}/")).await.unwrap(), 307);
    assert!(asked_elsewhere.try_recv().is_err());
}

#[tokio::test]
async fn certificate_is_trusted_only_with_ca_file() {
    let folder = TempFolder::new();
    let config = certificate(&folder);
    let (address, _requests) = server(answer("204 No Content", "", ""), move |stream, answer| {
        converse(StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream), answer)
    });
    let url = format!("https://{address}/");
    let messenger = HttpPoster::with_ca_file(LONG, Some(&folder.file("cert.pem"))).unwrap();
    assert_eq!(messenger.post(&url, &[], Vec::new()).await.unwrap().as_u16(), 204);
    let error = post(LONG, &url).await.unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
    // A receiver without TLS.
    let (plain, _requests) = server(answer("204 No Content", "", ""), converse);
    assert!(post(LONG, &format!("https://{plain}/")).await.is_err());
    let missing = HttpPoster::with_ca_file(LONG, Some(&folder.file("nowhere.pem"))).err().unwrap();
    assert!(missing.to_string().contains("nowhere.pem"), "{missing}");
}
