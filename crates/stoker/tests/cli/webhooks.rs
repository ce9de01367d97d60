//! Webhooks and notifications from the command line.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::desk::Desk;

/// Answers every request with this status.
fn receiver(status: &'static str) -> String {
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
fn a_webhook_is_made_tested_changed_and_deleted() {
    let desk = Desk::with_cluster();
    let good = receiver("204 No Content");
    let made = desk.run(&format!("webhook create chat {good} --topic run.failed --env 1"));
    assert!(made.err.contains("shown only once: "), "{}", made.err);
    made.ok();
    let shown = desk.run("webhook show chat --output json").json();
    assert_eq!((&shown["topics"], &shown["cluster"]), (&serde_json::json!(["run.failed"]), &1.into()));
    assert!(shown["secret"].is_null());
    assert!(desk.run("webhook test chat").ok().contains("delivered"));
    let bad = receiver("500 Oh");
    desk.run(&format!("webhook update chat --url {bad} --all-topics --all-envs")).ok();
    desk.run("webhook test chat").fails(1, &["the receiver said 500"]);
    let tried = desk.run("webhook deliveries chat --output json").json();
    assert_eq!(tried.as_array().unwrap().len(), 2);
    desk.run(&format!("webhook redeliver chat {}", tried[1]["id"])).ok();
    desk.run("webhook update chat").fails(2, &["nothing to change"]);
    desk.run("webhook update chat --new-secret").fails(2, &["STOKER_WEBHOOK_SECRET"]);
    desk.run("webhook create other ftp://x/").fails(1, &["http://"]);
    desk.run("webhook create other http://x/ --topic weather").fails(1, &["run.failed"]);
    desk.run("webhook show nobody").fails(1, &["there is no webhook `nobody`", "webhook list"]);
    desk.run("webhook delete chat --yes").ok();
    assert!(desk.run("webhook list --output json").json().as_array().unwrap().is_empty());
    assert!(desk.run("notification list --output json").json().as_array().unwrap().is_empty());
    desk.run("notification read").ok();
}

#[test]
fn the_doctor_looks_at_what_runs_and_at_what_shall() {
    let desk = Desk::with_cluster();
    let found = desk.run("doctor server --output json").json();
    let level = |check: &str| {
        let found = found.as_array().unwrap();
        found.iter().find(|finding| finding["check"] == check).map(|finding| finding["level"].clone())
    };
    for check in ["server", "clock", "version", "login", "agents"] {
        assert_eq!(level(check), Some("ok".into()), "{check}: {found}");
    }
    let data = desk.folder.file("data");
    let shown = desk.typed(&["doctor", "setup", "--data-dir", data.to_str().unwrap()], "").ok();
    assert!(shown.contains("SQLite") && shown.contains("module keys"), "{shown}");
    // What is not there yet is made by the first start, and not by the doctor.
    let new = desk.folder.file("new");
    desk.typed(&["doctor", "setup", "--data-dir", new.to_str().unwrap()], "").ok();
    assert!(!new.exists());
    let key = desk.folder.file("broken.key");
    std::fs::write(&key, "nonsense\n").unwrap();
    let words = ["doctor", "setup", "--data-dir", data.to_str().unwrap(), "--modules-key-file"];
    let said = desk.typed(&[&words[..], &[key.to_str().unwrap()]].concat(), "");
    assert!(said.out.contains("problem") && said.out.contains("broken.key:1"), "{}", said.out);
    said.fails(1, &["there is a problem"]);
    let words =
        ["doctor", "setup", "--database-url", "postgres://127.0.0.1:1/none", "--nats", "nats://127.0.0.1:1"];
    desk.typed(&words, "").fails(1, &["there are 2 problems"]);
    let state = desk.folder.file("state");
    std::fs::create_dir(&state).unwrap();
    let state = state.to_str().unwrap();
    let url = desk.url();
    let shown = desk.typed(&["doctor", "agent", "--server", &url, "--state", state], "").ok();
    assert!(shown.contains("answers"), "{shown}");
    desk.typed(&["doctor", "agent", "--server", "http://127.0.0.1:1", "--state", state], "")
        .fails(1, &["there is a problem"]);
    desk.run("doctor").fails(2, &[]);
}
