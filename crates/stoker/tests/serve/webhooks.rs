//! Webhook deliveries survive a killed server.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;

use crate::site::{Site, until};

const TASKS: &str = r#"[{"id": "one", "type": "shell", "version": "2.1.0", "roles": ["controller"],
    "parameters": {"cmd": "true"}}]"#;

/// Listens on a given address and records topic and ID of each delivery.
fn listen(address: &str) -> Arc<Mutex<Vec<(String, String)>>> {
    let listener = TcpListener::bind(address).unwrap();
    let deliveries = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&deliveries);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            if let Some(message) = receive(stream.unwrap()) {
                received.lock().push(message);
            }
        }
    });
    deliveries
}

/// Reads topic and ID of a delivery and responds with 204.
fn receive(mut stream: TcpStream) -> Option<(String, String)> {
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains("\r\n\r\n") {
        let n_read = stream.read(&mut buffer).ok().filter(|n_read| *n_read > 0)?;
        text.push_str(&String::from_utf8_lossy(&buffer[..n_read]));
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").ok()?;
    let header = |name: &str| {
        let line = text.lines().find(|line| line.to_ascii_lowercase().starts_with(name))?;
        Some(line.split_once(": ")?.1.to_owned())
    };
    Some((header("x-stoker-topic")?, header("x-stoker-delivery")?))
}

#[test]
fn killed_server_loses_no_delivery() {
    let mut site = Site::new(&serde_json::from_str(TASKS).unwrap());
    // Reserve an address without a listener.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let body = json!({"name": "hook", "url": format!("http://{address}/"),
        "topics": ["run.started", "run.succeeded"]});
    site.client.expect(201, "POST", "/api/v1/webhooks", Some(&body));
    let run = site.execute(&json!({}));
    assert_eq!(site.wait_for_end(run)["status"], "ready");
    until("a delivery has failed", || {
        let deliveries = site.get("/api/v1/webhooks/1/deliveries?order_by=id")?;
        deliveries[0]["problem"].is_string().then_some(())
    });
    site.kill_server();
    let received = listen(&address);
    site.start_server();
    let topics = until("both deliveries arrive", || {
        let mut received = received.lock().clone();
        received.sort_by_key(|(_, number)| number.parse::<i64>().unwrap());
        received.dedup();
        (received.len() >= 2).then_some(received)
    });
    let topics: Vec<&str> = topics.iter().map(|(topic, _)| topic.as_str()).collect();
    assert_eq!(topics, ["run.started", "run.succeeded"]);
    until("the deliveries are recorded", || {
        let deliveries = site.get("/api/v1/webhooks/1/deliveries?status=delivered")?;
        (deliveries.as_array()?.len() == 2).then_some(())
    });
}
