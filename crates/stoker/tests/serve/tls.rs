//! TLS: the certificate authority, the listener, agents with certificates, and revocation.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use stoker_testkit::{PrivatePostgres, TempFolder};
use stoker_tls::{Fingerprint, Trust, client_config};

use crate::process::{Client, PASSWORD, Process, bare_command, command};
use crate::site::{Site, join_token, until};
use crate::transcript::Transcript;

fn stoker(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command
        .args(arguments)
        .env("STOKER_PASSWORD", PASSWORD)
        .env_remove("STOKER_TOKEN")
        .env_remove("STOKER_SERVER");
    command.env_remove("STOKER_CA_FILE").output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the fingerprint of the certificate of a server, verified with the authority in the file.
fn server_fingerprint(address: &str, ca: &Path) -> Fingerprint {
    let config = client_config(&Trust::System { file: Some(ca.to_owned()) }, None).unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let mut connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).unwrap();
    }
    Fingerprint::of(&connection.peer_certificates().unwrap()[0])
}

const MASTER_AND_NODES: &str = r#"[
    {"id": "here", "type": "shell", "version": "2.1.0", "roles": ["master"], "parameters": {"cmd": "echo here"}},
    {"id": "there", "type": "shell", "version": "2.1.0", "roles": "*", "parameters": {"cmd": "echo there"}}]"#;

#[test]
fn authority_is_created_shown_and_never_overwritten() {
    let folder = TempFolder::new();
    let ca = folder.file("ca");
    let mut transcript = Transcript::default();
    transcript.replace_path(folder.path(), "FOLDER");
    let mut record = |arguments: &[&str], code: i32| {
        let output = stoker(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        transcript.record(arguments, "", &output);
        String::from_utf8(output.stdout).unwrap()
    };
    record(&["ca", "init"], 2);
    record(&["ca", "server", "--dir", text(&ca), "--name", "a"], 3);
    record(&["ca", "init", "--dir", text(&ca), "--name", "Second floor"], 0);
    record(&["ca", "init", "--dir", text(&ca)], 1);
    record(&["ca", "server", "--dir", text(&ca), "--name", "https://a"], 2);
    record(&["ca", "server", "--dir", text(&ca), "--name", "stoker.example", "--name", "10.0.0.7"], 0);
    let listing = record(&["ca", "show", "--dir", text(&ca)], 0);
    let fingerprint = record(&["ca", "show", "--dir", text(&ca), "--fingerprint"], 0);
    assert!(
        fingerprint.trim().parse::<Fingerprint>().is_ok() && listing.contains(fingerprint.trim()),
        "{fingerprint}"
    );
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn invalid_tls_options_fail_the_start() {
    let folder = TempFolder::new();
    let file = folder.file("file");
    std::fs::write(&file, "what?").unwrap();
    let mut transcript = Transcript::default();
    transcript.replace_path(folder.path(), "FOLDER");
    let mut expect_start_failure = |options: &[&str], code: i32| {
        let output = command(&folder.file("data")).args(options).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{options:?} {}", stderr(&output));
        transcript.record(&[&["serve"], options].concat(), "", &output);
    };
    expect_start_failure(&["--tls-cert", text(&file)], 2);
    expect_start_failure(&["--tls-name", "a"], 2);
    expect_start_failure(&["--tls-cert", text(&file), "--tls-key", text(&file)], 5);
    expect_start_failure(&["--ca-dir", text(&folder.file("none"))], 5);
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn clients_connect_over_tls() {
    let folder = TempFolder::new();
    let ca = folder.file("ca");
    assert!(stoker(&["ca", "init", "--dir", text(&ca)]).status.success());
    let server = Process::start_with(folder.path(), &["--ca-dir", text(&ca)]);
    assert!(
        server.startup_lines.iter().any(|line| line.contains("--ca-fingerprint sha256:")),
        "{:?}",
        server.startup_lines
    );
    let (url, certificate) = (format!("https://{}", server.address), ca.join("ca.pem"));
    let as_user = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
        command.args(arguments).env("HOME", folder.path()).env("XDG_CONFIG_HOME", folder.path());
        command.env("STOKER_PASSWORD", PASSWORD).env_remove("STOKER_CA_FILE").env_remove("STOKER_SERVER");
        command.env_remove("STOKER_TOKEN").output().unwrap()
    };
    let mut transcript = Transcript::default();
    transcript.replace(&*url, "SERVER");
    transcript.replace(&*server.address, "ADDRESS");
    transcript.replace_path(folder.path(), "FOLDER");
    let mut record = |arguments: &[&str], code: i32| {
        let output = as_user(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        transcript.record(arguments, "", &output);
    };
    record(&["login", "--server", &url], 5);
    record(&["login", "--server", &url, "--ca-file", text(&certificate)], 0);
    // The login stores the CA file.
    record(&["node", "list", "--output", "json"], 0);
    record(&["join-token", "create", "rack 7", "--uses", "3", "--hours", "1"], 0);
    record(&["join-token", "list"], 0);
    record(&["join-token", "delete", "1"], 0);
    record(&["node", "revoke", "99"], 1);
    insta::assert_snapshot!(transcript.take());

    // Links in responses use the URL of the request.
    let client = Client::log_in_to(&url, Some(&certificate), PASSWORD);
    let versions = client.expect(200, "GET", "/keystone/v2.0", None);
    assert!(versions.to_string().contains(&url), "{versions}");
}

#[test]
fn plain_http_request_to_a_tls_port_gets_a_hint() {
    let folder = TempFolder::new();
    let ca = folder.file("ca");
    assert!(stoker(&["ca", "init", "--dir", text(&ca)]).status.success());
    let server = Process::start_with(folder.path(), &["--ca-dir", text(&ca)]);
    let mut socket = TcpStream::connect(&server.address).unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
    assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert!(body["message"].as_str().unwrap().contains("https://"), "{body}");
    // Idle connections do not block others.
    let _silent: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    server_fingerprint(&server.address, &ca.join("ca.pem"));
}

#[test]
fn curl_uses_http_2_and_receives_hsts() {
    let curl = |arguments: &[&str]| Command::new("curl").args(["-sS", "-D", "-"]).args(arguments).output();
    if stoker_testkit::Tool::CURL.find().is_none() {
        // Recorded as skipped.
        return;
    }
    let folder = TempFolder::new();
    let ca = folder.file("ca");
    assert!(stoker(&["ca", "init", "--dir", text(&ca)]).status.success());
    let server = Process::start_with(folder.path(), &["--ca-dir", text(&ca), "--tls-name", "stoker.example"]);
    let (host, port) = server.address.split_once(':').unwrap();
    let url = format!("https://stoker.example:{port}/api/v1/health");
    let resolve = format!("stoker.example:{port}:{host}");
    let certificate = ca.join("ca.pem");
    let options = ["--resolve", &resolve, "--cacert", text(&certificate), "--noproxy", "*"];
    for version in ["--http1.1", "--http2", "--tlsv1.3"] {
        let output = curl(&[&options[..], &[version, &url]].concat()).unwrap();
        let response = String::from_utf8_lossy(&output.stdout).to_lowercase();
        assert!(
            response.contains("strict-transport-security: max-age="),
            "{version}: {response} {}",
            stderr(&output)
        );
    }
    let tls_1_1 = curl(&[&options[..], &["--tls-max", "1.1", &url]].concat()).unwrap();
    assert!(!tls_1_1.status.success(), "TLS 1.1 is rejected");
    let untrusted = curl(&["--resolve", &resolve, "--noproxy", "*", &url]).unwrap();
    assert!(!untrusted.status.success(), "the authority is not trusted");
}

#[test]
fn renewed_certificates_are_reloaded_without_dropping_connections() {
    let folder = TempFolder::new();
    let ca = folder.file("ca");
    assert!(stoker(&["ca", "init", "--dir", text(&ca)]).status.success());
    let issue =
        || assert!(stoker(&["ca", "server", "--dir", text(&ca), "--name", "127.0.0.1"]).status.success());
    issue();
    let (certificate, key) = (ca.join("127.0.0.1.pem"), ca.join("127.0.0.1-key.pem"));
    let server =
        Process::start_with(folder.path(), &["--tls-cert", text(&certificate), "--tls-key", text(&key)]);
    let authority = ca.join("ca.pem");
    let first = server_fingerprint(&server.address, &authority);
    let client = Client::log_in_to(&format!("https://{}", server.address), Some(&authority), PASSWORD);
    issue();
    server.reload();
    let second = until("the new certificate is used", || {
        Some(server_fingerprint(&server.address, &authority)).filter(|second| *second != first)
    });
    // The existing connection still works.
    client.expect(200, "GET", "/api/v1/users/me", None);
    // A mismatched pair is not loaded.
    std::fs::write(&key, "what?").unwrap();
    server.reload();
    client.expect(200, "GET", "/api/v1/users/me", None);
    assert_eq!(server_fingerprint(&server.address, &authority), second);
    // Changed files are detected without SIGHUP.
    issue();
    until("the change is detected", || {
        (server_fingerprint(&server.address, &authority) != second).then_some(())
    });
}

#[test]
fn agents_with_certificates_reconnect() {
    let mut site = Site::encrypted(&serde_json::from_str(MASTER_AND_NODES).unwrap(), &[]);
    (0..3).for_each(|node_idx| site.await_agent(node_idx));
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    assert!(site.read("agent-0/certificate.pem").contains("PRIVATE KEY"));
    site.kill_agent(0);
    site.start_agent(0);
    site.kill_server();
    site.start_server();
    (0..3).for_each(|node_idx| site.await_agent(node_idx));
    assert_eq!(site.deploy(&json!({"force": true}))["status"], "ready");
}

/// The join token must not be sent to an untrusted server.
#[test]
fn agents_do_not_join_an_untrusted_server() {
    let folder = TempFolder::new();
    let ca = folder.file("ca");
    assert!(stoker(&["ca", "init", "--dir", text(&ca)]).status.success());
    let server = Process::start_with(folder.path(), &["--ca-dir", text(&ca)]);
    let url = format!("https://{}", server.address);
    let other = format!("sha256:{}", "0".repeat(64));
    for trust in [&["--ca-fingerprint", other.as_str()][..], &[]] {
        let mut agent = Command::new(env!("CARGO_BIN_EXE_stoker"));
        agent.args(["agent", "--server", &url, "--join-token", "stk_x", "--state"]).arg(folder.file("state"));
        let mut child = agent.args(trust).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(line.contains("cannot reach") && line.contains("certificate"), "{line}");
    }
    let arguments = ["agent", "--server", &url, "--ca-fingerprint", "sha256:12"];
    let mut transcript = Transcript::default();
    transcript.replace(&*url, "SERVER");
    transcript.record(&arguments, "", &stoker(&arguments));
    insta::assert_snapshot!(transcript.take());
}

/// Returns the status of a POST with the credential of an agent and without a certificate.
fn post_as_agent(site: &Site, path: &str, credential: &str, body: &Value) -> u16 {
    let agent = crate::process::agent(Some(&site.file("ca/ca.pem")));
    let request =
        agent.post(format!("{}{path}", site.url())).header("authorization", format!("Bearer {credential}"));
    request.content_type("application/json").send(body.to_string()).unwrap().status().as_u16()
}

fn credential(site: &Site, state: &str) -> String {
    let membership: Value = serde_json::from_str(&site.read(&format!("{state}/membership.json"))).unwrap();
    membership["credential"].as_str().unwrap().to_owned()
}

#[test]
fn credential_without_certificate_is_rejected() {
    let site = Site::encrypted(&json!([]), &[]);
    site.await_agent(0);
    let credential = credential(&site, "agent-0");
    let agent = crate::process::agent(Some(&site.file("ca/ca.pem")));
    let session = agent
        .get(format!("{}/api/v1/agents/session", site.url()))
        .header("authorization", format!("Bearer {credential}"))
        .call()
        .unwrap();
    assert_eq!(session.status(), 401);
    let request = stoker_tls::AgentKey::new().unwrap().request().unwrap();
    let body = json!({"certificate_request": request});
    assert_eq!(post_as_agent(&site, "/api/v1/agents/certificate", &credential, &body), 401);
    assert_eq!(post_as_agent(&site, "/api/v1/agents/nats_user", &credential, &json!({})), 401);
    assert_eq!(post_as_agent(&site, "/api/v1/agents/certificate", "stk_wrong", &body), 401);
    // An agent that joined without a certificate request can get a certificate later, once.
    let token = join_token(&site.client, &json!({}));
    let facts = json!({"mac": "52:54:00:00:03:01"});
    let joined = site.client.expect(
        201,
        "POST",
        "/api/v1/agents/join",
        Some(&json!({"token": token, "facts": facts})),
    );
    assert!(joined.get("certificate").is_none(), "{joined}");
    let credential = joined["credential"].as_str().unwrap();
    let nonsense = json!({"certificate_request": "what?"});
    assert_eq!(post_as_agent(&site, "/api/v1/agents/certificate", credential, &nonsense), 400);
    assert_eq!(post_as_agent(&site, "/api/v1/agents/certificate", credential, &body), 201);
    assert_eq!(post_as_agent(&site, "/api/v1/agents/certificate", credential, &body), 401);
}

#[test]
fn revoked_node_is_disconnected_immediately() {
    let mut site = Site::encrypted(&json!([]), &[]);
    site.await_agent(0);
    site.await_agent(1);
    let node = site.nodes[0];
    let started_at = Instant::now();
    site.client.expect(204, "DELETE", &format!("/api/v1/nodes/{node}/agent"), None);
    until("the agent is rejected", || {
        site.read("agent-0.log").contains("join again with a new token").then_some(())
    });
    assert!(started_at.elapsed() < Duration::from_secs(20), "{:?}", started_at.elapsed());
    let agents = site.get("/api/v1/agents").unwrap();
    assert!(!agents.as_array().unwrap().iter().any(|agent| agent["node_id"] == node), "{agents}");
    site.await_agent(1);

    // A normal join token is not sufficient for a revoked node; one with `may_replace` is.
    let normal_token = join_token(&site.client, &json!({}));
    let join = |token: &str| {
        let body = json!({"token": token, "node": node.to_string()});
        site.client.call("POST", "/api/v1/agents/join", Some(&body)).unwrap()
    };
    let (status, response) = join(&normal_token);
    assert_eq!(status, 403, "{response}");
    assert!(response["message"].as_str().unwrap().contains("may_replace"), "{response}");
    site.start_agent_in(0, "again");
    site.await_agent(0);

    // Deleting a node disconnects its agent too.
    site.client.expect(200, "DELETE", &format!("/api/v1/nodes/{}", site.nodes[1]), None);
    until("the agent is rejected", || {
        site.read("agent-1.log").contains("join again with a new token").then_some(())
    });
}

#[test]
fn certificates_are_renewed_and_reissued_after_expiry() {
    let mut site = Site::encrypted(&json!([]), &["--agent-certificate-life", "10"]);
    site.await_agent(0);
    let first = site.read("agent-0/certificate.pem");
    let second = until("the certificate is renewed", || {
        Some(site.read("agent-0/certificate.pem")).filter(|second| *second != first && !second.is_empty())
    });
    site.kill_agent(0);
    site.start_agent(0);
    site.await_agent(0);
    site.kill_agent(0);
    let expired_certificate = site.read("agent-0/certificate.pem");
    let certificate =
        stoker_tls::Certificate::read_file(&site.file("agent-0/certificate.pem")).unwrap().remove(0);
    assert_eq!(certificate.subject, site.nodes[0].to_string());
    until("the certificate has expired", || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        (!certificate.validity.contains(i64::try_from(now).unwrap())).then_some(())
    });
    site.start_agent(0);
    site.await_agent(0);
    assert_ne!(site.read("agent-0/certificate.pem"), expired_certificate);
    assert_ne!(second, first);
}

#[test]
fn unencrypted_listener_warns_except_on_loopback() {
    let folder = TempFolder::new();
    let mut loopback = bare_command();
    loopback.arg("--data-dir").arg(folder.path()).env("STOKER_ADMIN_PASSWORD", PASSWORD);
    let server = Process::run(loopback);
    assert!(server.startup_lines.is_empty(), "{:?}", server.startup_lines);
    assert!(server.terminate().success());
    let mut all_interfaces = Command::new(env!("CARGO_BIN_EXE_stoker"));
    all_interfaces.args(["serve", "--listen", "0.0.0.0:0", "--data-dir"]).arg(folder.path());
    let server = Process::run(all_interfaces);
    assert!(
        server.startup_lines.iter().any(|line| line.contains("stoker ca init")),
        "{:?}",
        server.startup_lines
    );
}

#[test]
fn database_certificate_is_verified() {
    let folder = TempFolder::new();
    let (ca, other) = (folder.file("ca"), folder.file("other"));
    for dir in [&ca, &other] {
        assert!(stoker(&["ca", "init", "--dir", text(dir)]).status.success());
    }
    assert!(stoker(&["ca", "server", "--dir", text(&ca), "--name", "localhost"]).status.success());
    let Some(mut postgres) = PrivatePostgres::start() else { return };
    postgres.require_tls(&ca.join("localhost.pem"), &ca.join("localhost-key.pem"));
    let start = |host: &str, options: &str| {
        let url = format!("postgres://stoker@{host}:{}/stoker?{options}", postgres.port());
        let mut command = bare_command();
        command.env("STOKER_DATABASE_URL", url).env("STOKER_ADMIN_PASSWORD", PASSWORD);
        command.arg("--modules-key-file").arg(folder.file("modules.key"));
        command
    };
    let trusting = |dir: &Path| format!("sslmode=verify-full&sslrootcert={}", text(&dir.join("ca.pem")));
    for (host, options) in [
        ("localhost", "sslmode=disable".to_owned()),
        ("localhost", trusting(&other)),
        ("127.0.0.1", trusting(&ca)),
    ] {
        let output = start(host, &options).output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{host} {options}: {}", stderr(&output));
    }
    let server = Process::run(start("localhost", &trusting(&ca)));
    server.client().expect(200, "GET", "/api/v1/users/me", None);
}
