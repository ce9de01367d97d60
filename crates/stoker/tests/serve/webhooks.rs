//! What happened is told, whoever dies before it could be.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::site::{Site, until};

const TASKS: &str = r#"[{"id": "one", "type": "shell", "version": "2.1.0", "roles": ["controller"],
    "parameters": {"cmd": "true"}}]"#;

/// Listens on an address that was known before, and notes the topics of what comes.
fn listen(address: &str) -> Arc<Mutex<Vec<(String, String)>>> {
    let listener = TcpListener::bind(address).unwrap();
    let noted = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&noted);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            if let Some(message) = hear(stream.unwrap()) {
                heard.lock().unwrap().push(message);
            }
        }
    });
    noted
}

/// Topic and number of a message, which is answered well.
fn hear(mut stream: TcpStream) -> Option<(String, String)> {
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut text = String::new();
    let mut piece = [0; 4096];
    while !text.contains("\r\n\r\n") {
        let n_read = stream.read(&mut piece).ok().filter(|n_read| *n_read > 0)?;
        text.push_str(&String::from_utf8_lossy(&piece[..n_read]));
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").ok()?;
    let header = |name: &str| {
        let line = text.lines().find(|line| line.to_ascii_lowercase().starts_with(name))?;
        Some(line.split_once(": ")?.1.to_owned())
    };
    Some((header("x-stoker-topic")?, header("x-stoker-delivery")?))
}

#[test]
fn a_server_that_is_killed_loses_no_message() {
    let mut site = Site::new(&serde_json::from_str(TASKS).unwrap());
    // Nobody listens yet.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let body = json!({"name": "hook", "url": format!("http://{address}/"),
        "topics": ["run.started", "run.succeeded"]});
    site.client.expect(201, "POST", "/api/v1/webhooks", Some(&body));
    let run = site.execute(&json!({}));
    assert_eq!(site.ended(run)["status"], "ready");
    until("a message was tried in vain", || {
        let shown = site.get("/api/v1/webhooks/1/deliveries?order_by=id")?;
        shown[0]["problem"].is_string().then_some(())
    });
    site.kill_server();
    let heard = listen(&address);
    site.start_server();
    let topics = until("both messages come", || {
        let mut heard = heard.lock().unwrap().clone();
        heard.sort_by_key(|(_, number)| number.parse::<i64>().unwrap());
        heard.dedup();
        (heard.len() >= 2).then_some(heard)
    });
    let topics: Vec<&str> = topics.iter().map(|(topic, _)| topic.as_str()).collect();
    assert_eq!(topics, ["run.started", "run.succeeded"]);
    until("they are noted as delivered", || {
        let shown = site.get("/api/v1/webhooks/1/deliveries?status=delivered")?;
        (shown.as_array()?.len() == 2).then_some(())
    });
}
