//! A real server and a real agent behind a proxy that rewrites messages to those of another wire version.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

use crate::site::{Site, until};

/// Optional fields: messages of version 1 are complete without them.
const OPTIONAL: &[&str] = &["running", "finished", "runs", "facts", "summary", "debug"];

#[derive(Clone, Copy)]
enum WireVersion {
    /// One version older: sends and reads only mandatory fields.
    Previous,
    /// One version newer: sends unknown fields and messages.
    Next,
    /// Two or more versions older.
    Ancient,
}

impl WireVersion {
    /// Rewrites a message of the agent; may add messages.
    fn rewrite_from_agent(self, text: &str) -> Vec<String> {
        let mut message: Value = serde_json::from_str(text).unwrap();
        match self {
            Self::Previous => drop_optional_fields(&mut message),
            Self::Next => message["of_tomorrow"] = json!([1]),
            Self::Ancient => {}
        }
        let is_hello = message["kind"] == "hello";
        if is_hello {
            message["hello"]["wire_version"] = json!(match self {
                Self::Previous => stoker_wire::PROTOCOL_VERSION - 1,
                Self::Next => stoker_wire::PROTOCOL_VERSION + 1,
                Self::Ancient => 0,
            });
        }
        let mut messages = vec![message.to_string()];
        if matches!(self, Self::Next) && is_hello {
            messages.push(json!({"kind": "of_tomorrow", "what": {"nobody": "knows"}}).to_string());
        }
        messages
    }

    /// Rewrites a message of the server to what the agent would understand.
    fn rewrite_to_agent(self, text: &str) -> String {
        let mut message: Value = serde_json::from_str(text).unwrap();
        if matches!(self, Self::Previous) {
            drop_optional_fields(&mut message);
        }
        message.to_string()
    }
}

fn drop_optional_fields(message: &mut Value) {
    for key in ["hello", "finished", "attempt"] {
        if let Some(map) = message.get_mut(key).and_then(Value::as_object_mut) {
            map.retain(|name, value| {
                !OPTIONAL.contains(&name.as_str()) || (name == "running" && value != &json!([]))
            });
        }
    }
}

/// Starts a proxy in front of a server and returns its address.
fn start_proxy(server: String, version: WireVersion) -> String {
    let (address_sender, address_receiver) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            address_sender.send(listener.local_addr().unwrap().to_string()).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(forward(stream, server.clone(), version));
            }
        });
    });
    address_receiver.recv().unwrap()
}

/// Forwards plain requests unchanged and rewrites the messages of sessions.
async fn forward(mut stream: TcpStream, server: String, version: WireVersion) {
    let mut method = [0; 4];
    let mut upstream = TcpStream::connect(&server).await.unwrap();
    if stream.peek(&mut method).await.is_err() || &method == b"POST" {
        _ = tokio::io::copy_bidirectional(&mut stream, &mut upstream).await;
        return;
    }
    let mut authorization = None;
    #[expect(clippy::result_large_err, reason = "the callback signature is given by the library")]
    let capture_authorization = |request: &Request, response: Response| {
        authorization = request.headers().get("authorization").cloned();
        Ok(response)
    };
    let Ok(agent) = tokio_tungstenite::accept_hdr_async(stream, capture_authorization).await else { return };
    let mut request = format!("ws://{server}/api/v1/agents/session").into_client_request().unwrap();
    request.headers_mut().insert("authorization", authorization.unwrap());
    let Ok((server, _)) = tokio_tungstenite::client_async(request, upstream).await else { return };
    let ((mut to_agent, mut from_agent), (mut to_server, mut from_server)) = (agent.split(), server.split());
    let up = async {
        while let Some(Ok(message)) = from_agent.next().await {
            let messages = match &message {
                Message::Text(text) => {
                    version.rewrite_from_agent(text).into_iter().map(Message::text).collect()
                }
                _ => vec![message],
            };
            for message in messages {
                if to_server.send(message).await.is_err() {
                    return;
                }
            }
        }
    };
    let down = async {
        while let Some(Ok(message)) = from_server.next().await {
            let rewritten = match &message {
                Message::Text(text) => Message::text(version.rewrite_to_agent(text)),
                _ => message,
            };
            if to_agent.send(rewritten).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
}

const TASKS: &str = r#"[
    {"id": "first", "type": "shell", "version": "2.1.0", "roles": ["controller"], "parameters": {"cmd": "echo one"}},
    {"id": "second", "type": "shell", "version": "2.1.0", "roles": ["controller"], "requires": ["first"],
     "parameters": {"cmd": "echo two"}}]"#;

#[test]
fn neighboring_wire_versions_are_compatible() {
    for version in [WireVersion::Previous, WireVersion::Next] {
        let mut site = Site::new(&serde_json::from_str(TASKS).unwrap());
        site.await_agent(0);
        site.kill_agent(0);
        let proxy = start_proxy(site.listen_address().to_owned(), version);
        site.start_agent_via_proxy(0, &format!("http://{proxy}"), "of-another-age");
        until("the agent connects", || {
            site.read("of-another-age.log").contains("agent of node").then_some(())
        });
        site.await_agent(0);
        let run = site.deploy(&json!({}));
        assert_eq!(run["status"], "ready", "{run}");
        let history = site.history(run["id"].as_i64().unwrap());
        let ready = history.iter().filter(|task| task["status"] == "ready").count();
        assert_eq!(ready, 2, "{history:?}");
    }
}

#[test]
fn outdated_agent_is_asked_to_upgrade() {
    let mut site = Site::new(&json!([]));
    let proxy = start_proxy(site.listen_address().to_owned(), WireVersion::Ancient);
    site.kill_agent(0);
    site.start_agent_via_proxy(0, &format!("http://{proxy}"), "ancient");
    until("the agent is rejected", || site.read("ancient.log").contains("upgrade the agent").then_some(()));
    until("the server logs the reason", || {
        site.read("server.log").contains("upgrade the agent").then_some(())
    });
}
