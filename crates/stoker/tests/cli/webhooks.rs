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
    cli.redact(&succeeding, "http://SUCCEEDING");
    cli.show(&format!("webhook create chat {succeeding} --topic run.failed --env 1"));
    let webhook = cli.run("webhook show chat --output json").json();
    assert!(webhook["secret"].is_null());
    cli.show("webhook show chat");
    cli.show("webhook test chat");
    // Wide enough that no time is wrapped.
    let args = ["webhook", "deliveries", "chat"];
    cli.show_command(cli.command(&args, 160), &args, "");
    let failing = start_receiver("500 Oh");
    cli.redact(&failing, "http://FAILING");
    cli.show(&format!("webhook update chat --url {failing} --all-topics --all-envs"));
    cli.show("webhook test chat");
    let deliveries = cli.run("webhook deliveries chat --output json").json();
    assert_eq!(deliveries.as_array().unwrap().len(), 2);
    cli.show(&format!("webhook redeliver chat {}", deliveries[1]["id"]));
    cli.show("webhook update chat");
    cli.show("webhook update chat --new-secret");
    cli.show("webhook create other ftp://x/");
    cli.show("webhook create other http://x/ --topic weather");
    cli.show("webhook show nobody");
    cli.show("webhook list");
    cli.show("webhook delete chat --yes");
    cli.show("webhook list --output json");
    insta::assert_snapshot!("webhook", cli.transcript());
    cli.show("notification list");
    cli.show("notification list --output json");
    cli.show("notification read");
    insta::assert_snapshot!("notification", cli.transcript());
}

#[test]
fn doctor_checks_server_setup_and_agent() {
    let cli = CliFixture::with_cluster();
    cli.show("doctor server");
    let data = cli.folder.file("data");
    let data = data.to_str().unwrap();
    cli.show_args(&["doctor", "setup", "--data-dir", data], "");
    let config = cli.folder.file("serve.toml");
    std::fs::write(&config, format!("listen = \"127.0.0.1:1\"\ndata_dir = {data:?}\n")).unwrap();
    cli.show_args(&["doctor", "setup", "--config", config.to_str().unwrap()], "");
    // The doctor does not create a missing data directory.
    let missing = cli.folder.file("new");
    cli.show_args(&["doctor", "setup", "--data-dir", missing.to_str().unwrap()], "");
    assert!(!missing.exists());
    let key = cli.folder.file("broken.key");
    std::fs::write(&key, "nonsense\n").unwrap();
    cli.show_args(&["doctor", "setup", "--data-dir", data, "--modules-key-file", key.to_str().unwrap()], "");
    cli.show("doctor setup --database-url postgres://127.0.0.1:1/none --nats nats://127.0.0.1:1");
    let state = cli.folder.file("state");
    std::fs::create_dir(&state).unwrap();
    let state = state.to_str().unwrap();
    cli.show_args(&["doctor", "agent", "--server", &cli.url(), "--state", state], "");
    cli.show_args(&["doctor", "agent", "--server", "http://127.0.0.1:1", "--state", state], "");
    assert_eq!(cli.run("doctor").code, 2);
    insta::assert_snapshot!("doctor", cli.transcript());
}
