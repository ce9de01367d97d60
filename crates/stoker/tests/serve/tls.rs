//! Encrypted connections: the authority, the listener, agents with certificates, and those that are cut off.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use stoker_testkit::{Folder, OwnPostgres};
use stoker_tls::{Fingerprint, Trust, client_config};

use crate::process::{Client, PASSWORD, Process, bare_command, command};
use crate::site::{Site, join_token, until};

fn stoker(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command
        .args(arguments)
        .env("STOKER_PASSWORD", PASSWORD)
        .env_remove("STOKER_TOKEN")
        .env_remove("STOKER_SERVER");
    command.env_remove("STOKER_CA_FILE").output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The certificate that a server shows to somebody who trusts the authority of the file.
fn shown(address: &str, ca: &Path) -> Fingerprint {
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
fn an_authority_is_made_shown_and_never_overwritten() {
    let folder = Folder::new();
    let ca = folder.file("ca");
    assert_eq!(stoker(&["ca", "init"]).status.code(), Some(2));
    let none = stoker(&["ca", "server", "--dir", text(&ca), "--name", "a"]);
    assert_eq!(none.status.code(), Some(3));
    assert!(told(&none).contains("stoker ca init"), "{}", told(&none));
    assert!(stoker(&["ca", "init", "--dir", text(&ca), "--name", "Second floor"]).status.success());
    let again = stoker(&["ca", "init", "--dir", text(&ca)]);
    assert_eq!(again.status.code(), Some(1));
    assert!(told(&again).contains("is there already"), "{}", told(&again));
    let wrong = stoker(&["ca", "server", "--dir", text(&ca), "--name", "https://a"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", told(&wrong));

    let made =
        stoker(&["ca", "server", "--dir", text(&ca), "--name", "stoker.example", "--name", "10.0.0.7"]);
    assert!(made.status.success(), "{}", told(&made));
    let all = stoker(&["ca", "show", "--dir", text(&ca)]);
    let all = String::from_utf8(all.stdout).unwrap();
    for expected in ["Second floor", "stoker.example, 10.0.0.7", "sha256:", "365 days left"] {
        assert!(all.contains(expected), "{expected}: {all}");
    }
    let one = String::from_utf8(stoker(&["ca", "show", "--dir", text(&ca), "--fingerprint"]).stdout).unwrap();
    assert!(one.trim().parse::<Fingerprint>().is_ok() && all.contains(one.trim()), "{one}");
}

#[test]
fn what_cannot_be_used_stops_the_start() {
    let folder = Folder::new();
    let file = folder.file("file");
    std::fs::write(&file, "what?").unwrap();
    let refused = |options: &[&str], code: i32, expected: &str| {
        let output = command(&folder.file("data")).args(options).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{options:?} {}", told(&output));
        assert!(told(&output).contains(expected), "{options:?} {}", told(&output));
    };
    refused(&["--tls-cert", text(&file)], 2, "--tls-key");
    refused(&["--tls-name", "a"], 2, "--ca-dir");
    refused(&["--tls-cert", text(&file), "--tls-key", text(&file)], 5, "holds no certificate");
    refused(&["--ca-dir", text(&folder.file("none"))], 5, "stoker ca init");
}

#[test]
fn people_come_in_over_tls() {
    let folder = Folder::new();
    let ca = folder.file("ca");
    assert!(stoker(&["ca", "init", "--dir", text(&ca)]).status.success());
    let server = Process::start_with(folder.path(), &["--ca-dir", text(&ca)]);
    assert!(server.told.iter().any(|line| line.contains("--ca-fingerprint sha256:")), "{:?}", server.told);
    let (url, certificate) = (format!("https://{}", server.address), ca.join("ca.pem"));
    let as_user = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
        command.args(arguments).env("HOME", folder.path()).env("XDG_CONFIG_HOME", folder.path());
        command.env("STOKER_PASSWORD", PASSWORD).env_remove("STOKER_CA_FILE").env_remove("STOKER_SERVER");
        command.env_remove("STOKER_TOKEN").output().unwrap()
    };
    let strange = as_user(&["login", "--server", &url]);
    assert_eq!(strange.status.code(), Some(5), "{}", told(&strange));
    assert!(told(&strange).to_lowercase().contains("certificate"), "{}", told(&strange));
    let known = as_user(&["login", "--server", &url, "--ca-file", text(&certificate)]);
    assert!(known.status.success(), "{}", told(&known));
    // The login remembers whom to trust.
    let nodes = as_user(&["node", "list", "--output", "json"]);
    assert!(nodes.status.success(), "{}", told(&nodes));
    let made = as_user(&["join-token", "create", "rack 7", "--uses", "3", "--hours", "1"]);
    assert!(String::from_utf8_lossy(&made.stdout).starts_with("stk_"), "{}", told(&made));
    let tokens = as_user(&["join-token", "list"]);
    assert!(String::from_utf8_lossy(&tokens.stdout).contains("rack 7"), "{}", told(&tokens));
    assert!(as_user(&["join-token", "delete", "1"]).status.success());
    let gone = as_user(&["node", "revoke", "99"]);
    assert_eq!(gone.status.code(), Some(1), "{}", told(&gone));

    // Links in answers lead to where the client came in.
    let client = Client::log_in_to(&url, Some(&certificate), PASSWORD);
    let versions = client.expect(200, "GET", "/keystone/v2.0", None);
    assert!(versions.to_string().contains(&url), "{versions}");
}

#[test]
fn who_forgets_that_a_port_is_encrypted_is_told() {
    let folder = Folder::new();
    let ca = folder.file("ca");
    assert!(stoker(&["ca", "init", "--dir", text(&ca)]).status.success());
    let server = Process::start_with(folder.path(), &["--ca-dir", text(&ca)]);
    let mut socket = TcpStream::connect(&server.address).unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
    assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert!(body["message"].as_str().unwrap().contains("https://"), "{body}");
    // One that says nothing at all is in nobody's way.
    let _silent: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    shown(&server.address, &ca.join("ca.pem"));
}

#[test]
fn curl_speaks_http_2_and_hears_that_it_is_encrypted_for_good() {
    let curl = |arguments: &[&str]| Command::new("curl").args(["-sS", "-D", "-"]).args(arguments).output();
    if curl(&["--version"]).is_err() {
        eprintln!("skipped: `curl` is missing; `apt-get install curl`");
        return;
    }
    let folder = Folder::new();
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
        let answer = String::from_utf8_lossy(&output.stdout).to_lowercase();
        assert!(
            answer.contains("strict-transport-security: max-age="),
            "{version}: {answer} {}",
            told(&output)
        );
    }
    let old = curl(&[&options[..], &["--tls-max", "1.1", &url]].concat()).unwrap();
    assert!(!old.status.success(), "TLS 1.1 is no more");
    let stranger = curl(&["--resolve", &resolve, "--noproxy", "*", &url]).unwrap();
    assert!(!stranger.status.success(), "an authority that nobody named");
}

#[test]
fn renewed_files_are_taken_up_and_connections_go_on() {
    let folder = Folder::new();
    let ca = folder.file("ca");
    assert!(stoker(&["ca", "init", "--dir", text(&ca)]).status.success());
    let make =
        || assert!(stoker(&["ca", "server", "--dir", text(&ca), "--name", "127.0.0.1"]).status.success());
    make();
    let (certificate, key) = (ca.join("127.0.0.1.pem"), ca.join("127.0.0.1-key.pem"));
    let server =
        Process::start_with(folder.path(), &["--tls-cert", text(&certificate), "--tls-key", text(&key)]);
    let authority = ca.join("ca.pem");
    let first = shown(&server.address, &authority);
    let client = Client::log_in_to(&format!("https://{}", server.address), Some(&authority), PASSWORD);
    make();
    server.hang_up();
    let second = until("the new certificate is shown", || {
        Some(shown(&server.address, &authority)).filter(|second| *second != first)
    });
    // Over the connection that was there before.
    client.expect(200, "GET", "/api/v1/users/me", None);
    // Half of a pair is not taken.
    std::fs::write(&key, "what?").unwrap();
    server.hang_up();
    client.expect(200, "GET", "/api/v1/users/me", None);
    assert_eq!(shown(&server.address, &authority), second);
    // Nobody says that these have changed.
    make();
    until("they are noticed", || (shown(&server.address, &authority) != second).then_some(()));
}

#[test]
fn agents_with_certificates_work_and_come_back() {
    let mut site = Site::encrypted(&serde_json::from_str(MASTER_AND_NODES).unwrap(), &[]);
    (0..3).for_each(|place| site.await_agent(place));
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    assert!(site.read("agent-0/certificate.pem").contains("PRIVATE KEY"));
    site.kill_agent(0);
    site.start_agent(0);
    site.kill_server();
    site.start_server();
    (0..3).for_each(|place| site.await_agent(place));
    assert_eq!(site.deploy(&json!({"force": true}))["status"], "ready");
}

/// The token must not be sent to somebody else.
#[test]
fn agents_do_not_join_a_server_of_another_authority() {
    let folder = Folder::new();
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
    let wrong = stoker(&["agent", "--server", &url, "--ca-fingerprint", "sha256:12"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", told(&wrong));
    assert!(told(&wrong).contains("stoker ca show"), "{}", told(&wrong));
}

/// Status of a POST with the credential of an agent and no certificate.
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
fn a_credential_alone_opens_nothing_where_there_are_certificates() {
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
    assert_eq!(post_as_agent(&site, "/api/v1/agents/nats_user", &credential, &body), 401);
    assert_eq!(post_as_agent(&site, "/api/v1/agents/certificate", "stk_wrong", &body), 401);
    // One that joined without asking for a certificate gets one later, once.
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
fn a_node_that_is_revoked_is_cut_off_at_once() {
    let mut site = Site::encrypted(&json!([]), &[]);
    site.await_agent(0);
    site.await_agent(1);
    let node = site.nodes[0];
    let began = Instant::now();
    site.client.expect(204, "DELETE", &format!("/api/v1/nodes/{node}/agent"), None);
    until("it is told", || site.read("agent-0.log").contains("join again with a new token").then_some(()));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let agents = site.get("/api/v1/agents").unwrap();
    assert!(!agents.as_array().unwrap().iter().any(|agent| agent["node_id"] == node), "{agents}");
    site.await_agent(1);

    // Also a token that is still good does not help it; one that was made for that does.
    let plain = join_token(&site.client, &json!({}));
    let join = |token: &str| {
        let body = json!({"token": token, "node": node.to_string()});
        site.client.call("POST", "/api/v1/agents/join", Some(&body)).unwrap()
    };
    let (status, answer) = join(&plain);
    assert_eq!(status, 403, "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("may_replace"), "{answer}");
    site.start_agent_in(0, "again");
    site.await_agent(0);

    // A node that is forgotten is cut off as well.
    site.client.expect(200, "DELETE", &format!("/api/v1/nodes/{}", site.nodes[1]), None);
    until("it is told", || site.read("agent-1.log").contains("join again with a new token").then_some(()));
}

#[test]
fn certificates_are_renewed_and_got_again_after_a_long_absence() {
    let mut site = Site::encrypted(&json!([]), &["--agent-certificate-life", "10"]);
    site.await_agent(0);
    let first = site.read("agent-0/certificate.pem");
    let second = until("it is renewed", || {
        Some(site.read("agent-0/certificate.pem")).filter(|second| *second != first && !second.is_empty())
    });
    site.kill_agent(0);
    site.start_agent(0);
    site.await_agent(0);
    site.kill_agent(0);
    let kept = site.read("agent-0/certificate.pem");
    let certificate =
        stoker_tls::Certificate::read_file(&site.file("agent-0/certificate.pem")).unwrap().remove(0);
    assert_eq!(certificate.subject, site.nodes[0].to_string());
    until("it has expired", || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        (!certificate.validity.holds(i64::try_from(now).unwrap())).then_some(())
    });
    site.start_agent(0);
    site.await_agent(0);
    assert_ne!(site.read("agent-0/certificate.pem"), kept);
    assert_ne!(second, first);
}

#[test]
fn the_warning_teaches_and_loopback_needs_none() {
    let folder = Folder::new();
    let mut open = bare_command();
    open.arg("--data-dir").arg(folder.path()).env("STOKER_ADMIN_PASSWORD", PASSWORD);
    let server = Process::run(open);
    assert!(server.told.is_empty(), "{:?}", server.told);
    assert!(server.terminate().success());
    let mut everywhere = Command::new(env!("CARGO_BIN_EXE_stoker"));
    everywhere.args(["serve", "--listen", "0.0.0.0:0", "--data-dir"]).arg(folder.path());
    let server = Process::run(everywhere);
    assert!(server.told.iter().any(|line| line.contains("stoker ca init")), "{:?}", server.told);
}

#[test]
fn the_database_is_reached_over_tls_and_no_other_is_taken_for_it() {
    let folder = Folder::new();
    let (ca, other) = (folder.file("ca"), folder.file("other"));
    for dir in [&ca, &other] {
        assert!(stoker(&["ca", "init", "--dir", text(dir)]).status.success());
    }
    assert!(stoker(&["ca", "server", "--dir", text(&ca), "--name", "localhost"]).status.success());
    let Some(mut postgres) = OwnPostgres::start_new() else { return };
    postgres.encrypt(&ca.join("localhost.pem"), &ca.join("localhost-key.pem"));
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
        assert_eq!(output.status.code(), Some(5), "{host} {options}: {}", told(&output));
    }
    let server = Process::run(start("localhost", &trusting(&ca)));
    server.client().expect(200, "GET", "/api/v1/users/me", None);
}
