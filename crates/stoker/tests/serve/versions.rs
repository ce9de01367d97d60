//! A real server and a real agent that seems to be of another version: somebody between them rewrites what it says.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

use crate::site::{Site, until};

/// Fields that a reader must not miss: those without which messages of version 1 are complete.
const OPTIONAL: &[&str] = &["running", "finished", "runs", "facts", "summary", "debug"];

#[derive(Clone, Copy)]
enum Age {
    /// One step older: it knows only what it must.
    Previous,
    /// One step newer: it says what nobody understands.
    Next,
    /// Two steps older, or more.
    Ancient,
}

impl Age {
    /// What an agent of this age would have said instead; there may be more than one message.
    fn says(self, text: &str) -> Vec<String> {
        let mut message: Value = serde_json::from_str(text).unwrap();
        match self {
            Self::Previous => forget(&mut message),
            Self::Next => message["of_tomorrow"] = json!([1]),
            Self::Ancient => {}
        }
        let is_hello = message["kind"] == "hello";
        if is_hello {
            message["hello"]["wire_version"] = json!(match self {
                Self::Previous => stoker_wire::VERSION - 1,
                Self::Next => stoker_wire::VERSION + 1,
                Self::Ancient => 0,
            });
        }
        let mut said = vec![message.to_string()];
        if matches!(self, Self::Next) && is_hello {
            said.push(json!({"kind": "of_tomorrow", "what": {"nobody": "knows"}}).to_string());
        }
        said
    }

    /// What it would have understood.
    fn hears(self, text: &str) -> String {
        let mut message: Value = serde_json::from_str(text).unwrap();
        if matches!(self, Self::Previous) {
            forget(&mut message);
        }
        message.to_string()
    }
}

fn forget(message: &mut Value) {
    for part in ["hello", "finished", "attempt"] {
        if let Some(map) = message.get_mut(part).and_then(Value::as_object_mut) {
            map.retain(|key, value| {
                !OPTIONAL.contains(&key.as_str()) || (key == "running" && value != &json!([]))
            });
        }
    }
}

/// Listens in front of a server until the test ends.
fn stand_between(server: String, age: Age) -> String {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap().to_string()).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, server.clone(), age));
            }
        });
    });
    told.recv().unwrap()
}

/// Requests pass as they are, sessions are rewritten.
async fn pass(mut stream: TcpStream, server: String, age: Age) {
    let mut first = [0; 4];
    let mut behind = TcpStream::connect(&server).await.unwrap();
    if stream.peek(&mut first).await.is_err() || &first == b"POST" {
        _ = tokio::io::copy_bidirectional(&mut stream, &mut behind).await;
        return;
    }
    let mut authorization = None;
    #[expect(clippy::result_large_err, reason = "the library wants it so")]
    let look = |request: &Request, response: Response| {
        authorization = request.headers().get("authorization").cloned();
        Ok(response)
    };
    let Ok(agent) = tokio_tungstenite::accept_hdr_async(stream, look).await else { return };
    let mut request = format!("ws://{server}/api/v1/agents/session").into_client_request().unwrap();
    request.headers_mut().insert("authorization", authorization.unwrap());
    let Ok((server, _)) = tokio_tungstenite::client_async(request, behind).await else { return };
    let ((mut to_agent, mut from_agent), (mut to_server, mut from_server)) = (agent.split(), server.split());
    let up = async {
        while let Some(Ok(message)) = from_agent.next().await {
            let said = match &message {
                Message::Text(text) => age.says(text).into_iter().map(Message::text).collect(),
                _ => vec![message],
            };
            for message in said {
                if to_server.send(message).await.is_err() {
                    return;
                }
            }
        }
    };
    let down = async {
        while let Some(Ok(message)) = from_server.next().await {
            let heard = match &message {
                Message::Text(text) => Message::text(age.hears(text)),
                _ => message,
            };
            if to_agent.send(heard).await.is_err() {
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
fn agents_one_step_older_and_one_step_newer_do_their_work() {
    for age in [Age::Previous, Age::Next] {
        let mut site = Site::new(&serde_json::from_str(TASKS).unwrap());
        site.await_agent(0);
        site.kill_agent(0);
        let between = stand_between(site.listens_on().to_owned(), age);
        site.start_agent_by_way_of(0, &format!("http://{between}"), "of-another-age");
        until("it connects", || site.read("of-another-age.log").contains("agent of node").then_some(()));
        site.await_agent(0);
        let run = site.deploy(&json!({}));
        assert_eq!(run["status"], "ready", "{run}");
        let history = site.history(run["id"].as_i64().unwrap());
        let ready = history.iter().filter(|task| task["status"] == "ready").count();
        assert_eq!(ready, 2, "{history:?}");
    }
}

#[test]
fn an_agent_that_is_too_old_is_told_to_upgrade() {
    let mut site = Site::new(&json!([]));
    let between = stand_between(site.listens_on().to_owned(), Age::Ancient);
    site.kill_agent(0);
    site.start_agent_by_way_of(0, &format!("http://{between}"), "ancient");
    until("it is told", || site.read("ancient.log").contains("upgrade the agent").then_some(()));
    until("the server says so, too", || site.read("server.log").contains("upgrade the agent").then_some(()));
}
