//! Webhooks, notifications and `stoker doctor`.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::fixture::CliFixture;

/// Starts an HTTP server that responds to every request with this status; returns its URL.
fn start_receiver(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            _ = stream.read(&mut [0; 8192]);
            _ = write!(stream, "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        }
    });
    url
}

#[test]
fn webhook_is_created_tested_updated_and_deleted() {
    let cli = CliFixture::with_cluster();
    let succeeding = start_receiver("204 No Content");
    let output = cli.run(&format!("webhook create chat {succeeding} --topic run.failed --env 1"));
    assert!(output.err.contains("secret (shown only once): "), "{}", output.err);
    output.ok();
    let webhook = cli.run("webhook show chat --output json").json();
    assert_eq!((&webhook["topics"], &webhook["cluster"]), (&serde_json::json!(["run.failed"]), &1.into()));
    assert!(webhook["secret"].is_null());
    assert!(cli.run("webhook test chat").ok().contains("delivered"));
    let failing = start_receiver("500 Oh");
    cli.run(&format!("webhook update chat --url {failing} --all-topics --all-envs")).ok();
    cli.run("webhook test chat").fails(1, &["the receiver responded with status 500"]);
    let deliveries = cli.run("webhook deliveries chat --output json").json();
    assert_eq!(deliveries.as_array().unwrap().len(), 2);
    cli.run(&format!("webhook redeliver chat {}", deliveries[1]["id"])).ok();
    cli.run("webhook update chat").fails(2, &["no fields to update"]);
    cli.run("webhook update chat --new-secret").fails(2, &["STOKER_WEBHOOK_SECRET"]);
    cli.run("webhook create other ftp://x/").fails(1, &["http://"]);
    cli.run("webhook create other http://x/ --topic weather").fails(1, &["run.failed"]);
    cli.run("webhook show nobody").fails(1, &["webhook `nobody` not found", "webhook list"]);
    cli.run("webhook delete chat --yes").ok();
    assert!(cli.run("webhook list --output json").json().as_array().unwrap().is_empty());
    assert!(cli.run("notification list --output json").json().as_array().unwrap().is_empty());
    cli.run("notification read").ok();
}

#[test]
fn doctor_checks_server_setup_and_agent() {
    let cli = CliFixture::with_cluster();
    let findings = cli.run("doctor server --output json").json();
    let level = |check: &str| {
        let findings = findings.as_array().unwrap();
        findings.iter().find(|finding| finding["check"] == check).map(|finding| finding["level"].clone())
    };
    for check in ["server", "clock", "version", "login", "agents"] {
        assert_eq!(level(check), Some("ok".into()), "{check}: {findings}");
    }
    let data = cli.folder.file("data");
    let output = cli.run_args(&["doctor", "setup", "--data-dir", data.to_str().unwrap()], "").ok();
    assert!(output.contains("SQLite") && output.contains("module keys"), "{output}");
    // The doctor does not create a missing data directory.
    let missing = cli.folder.file("new");
    cli.run_args(&["doctor", "setup", "--data-dir", missing.to_str().unwrap()], "").ok();
    assert!(!missing.exists());
    let key = cli.folder.file("broken.key");
    std::fs::write(&key, "nonsense\n").unwrap();
    let args = ["doctor", "setup", "--data-dir", data.to_str().unwrap(), "--modules-key-file"];
    let output = cli.run_args(&[&args[..], &[key.to_str().unwrap()]].concat(), "");
    assert!(output.out.contains("problem") && output.out.contains("broken.key:1"), "{}", output.out);
    output.fails(1, &["found 1 problem"]);
    let args =
        ["doctor", "setup", "--database-url", "postgres://127.0.0.1:1/none", "--nats", "nats://127.0.0.1:1"];
    cli.run_args(&args, "").fails(1, &["found 2 problems"]);
    let state = cli.folder.file("state");
    std::fs::create_dir(&state).unwrap();
    let state = state.to_str().unwrap();
    let url = cli.url();
    let output = cli.run_args(&["doctor", "agent", "--server", &url, "--state", state], "").ok();
    assert!(output.contains("responds"), "{output}");
    cli.run_args(&["doctor", "agent", "--server", "http://127.0.0.1:1", "--state", state], "")
        .fails(1, &["found 1 problem"]);
    cli.run("doctor").fails(2, &[]);
}
