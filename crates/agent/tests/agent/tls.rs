//! TLS server with a self-signed certificate.

use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use stoker_agent::{Endpoint, JoinError, join};
use stoker_model::ErrorChain;
use stoker_testkit::TempFolder;
use stoker_wire::join::JoinRequest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::rig::with_timeout;

/// Creates a self-signed certificate with `openssl`. Returns false if that is not possible.
fn create_certificate(folder: &TempFolder) -> bool {
    let output = Command::new("openssl")
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
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(folder.file("key.pem"))
        .arg("-out")
        .arg(folder.file("cert.pem"))
        .output();
    let is_created = output.is_ok_and(|output| output.status.success());
    if !is_created {
        stoker_testkit::record_missing_tool("openssl: missing or too old; `apt-get install openssl`");
    }
    is_created
}

fn acceptor(folder: &TempFolder) -> tokio_rustls::TlsAcceptor {
    let certificate = CertificateDer::from_pem_file(folder.file("cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.file("key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    tokio_rustls::TlsAcceptor::from(Arc::new(config))
}

#[tokio::test]
async fn self_signed_certificate_is_trusted_only_with_ca_file() {
    let folder = TempFolder::new();
    if !create_certificate(&folder) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let acceptor = acceptor(&folder);
    let serving = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut buffer = [0; 4096];
            _ = stream.read(&mut buffer).await;
            let body = r#"{"node_uid": "5", "credential": "c"}"#;
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let request = JoinRequest { token: "t".to_owned(), node: "n".to_owned(), ..JoinRequest::default() };
    let trusting = Endpoint::parse(&url, Some(&folder.file("cert.pem"))).unwrap();
    assert_eq!(with_timeout(join(&trusting, &request)).await.unwrap().node_uid, "5".into());
    let untrusting = Endpoint::parse(&url, None).unwrap();
    let error = with_timeout(join(&untrusting, &request)).await.unwrap_err();
    assert!(matches!(error, JoinError::Unavailable { .. }));
    let error = ErrorChain(&error).to_string();
    assert!(error.contains("certificate"), "{error}");
    serving.abort();
}
