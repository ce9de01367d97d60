//! Agents over NATS: a real NATS server, set up by `stoker nats init`.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::{Value, json};
use stoker_bus::{Bus, NatsAuth, NatsBus, NatsOptions, Subject, SubjectPattern, UserKeys};
use stoker_engine::session::{AttemptKey, AttemptResult, FromAgent, ResultKind};
use stoker_model::{InstanceIdx, Micros, RunId, TaskReport};
use stoker_testkit::{TempFolder, TestNats};

use crate::kills::Run;
use crate::process::{Process, bare_command};
use crate::secured_nats::{SecuredNats, init};
use crate::site::{Site, until};
use crate::transcript::Transcript;

impl SecuredNats {
    fn site(&self) -> Site {
        let options = self.server_options();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        Site::with_agents(&json!([]), &options, &["--nats", &self.nats.url()])
    }

    async fn as_server(&self) -> Bus {
        connect(&self.nats, NatsAuth::File(self.folder.file("nats/servers.creds"))).await
    }
}

async fn connect(nats: &TestNats, auth: NatsAuth) -> Bus {
    let options = NatsOptions { auth, ..NatsOptions::new(nats.url()) };
    Bus::Nats(NatsBus::connect(&options).await.unwrap())
}

async fn wait(condition: &str, mut poll: impl FnMut() -> bool) {
    let polling = async {
        while !poll() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(
        tokio::time::timeout(Duration::from_secs(30), polling).await.is_ok(),
        "timed out waiting until {condition}"
    );
}

/// Returns the NATS credentials of the agent of a node, and its public key.
fn user_of(site: &Site, node_idx: usize) -> (UserKeys, String) {
    site.await_agent(node_idx);
    let membership = site.read(&format!("agent-{node_idx}/membership.json"));
    let membership: Value = serde_json::from_str(&membership).unwrap();
    let url = format!("{}/api/v1/agents/nats_user", site.url());
    let bearer = format!("Bearer {}", membership["credential"].as_str().unwrap());
    let mut response = ureq::post(url).header("authorization", bearer).send_empty().unwrap();
    let user: Value = serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap();
    let text = |name: &str| user[name].as_str().unwrap().to_owned();
    (UserKeys::new(text("jwt"), text("seed")), text("key"))
}

fn subject(text: &str) -> Subject {
    Subject::new(text.split('.')).unwrap()
}

fn pattern(text: &str) -> SubjectPattern {
    SubjectPattern::new(text.split('.')).unwrap()
}

fn is_over_nats(site: &Site, node_idx: usize) -> bool {
    let log = site.read(&format!("agent-{node_idx}.log"));
    log.rfind("through NATS").unwrap_or(0) > log.rfind("connecting directly to the server").unwrap_or(0)
}

#[test]
fn init_files_are_private_and_not_overwritten() {
    let folder = TempFolder::new();
    let first = init(&folder);
    assert!(first.status.success(), "{first:?}");
    for name in ["nats-server.conf", "servers.creds", "keys.json"] {
        let mode = std::fs::metadata(folder.file("nats").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let mut transcript = Transcript::default();
    transcript.replace_path(folder.path(), "FOLDER");
    transcript.record(&["nats", "init", "# again"], "", &init(&folder));
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn invalid_nats_options_are_rejected() {
    let folder = TempFolder::new();
    let mut transcript = Transcript::default();
    transcript.replace_path(folder.path(), "FOLDER");
    let mut serve = |options: &[&str]| {
        let mut command = bare_command();
        command.arg("--data-dir").arg(folder.file("data")).env_remove("STOKER_NATS_URL");
        let output = command.args(options).output().unwrap();
        assert!(!output.status.success(), "{options:?}");
        transcript.record(&[&["serve"], options].concat(), "", &output);
    };
    serve(&["--nats-keys", "x"]);
    serve(&["--nats", "http://u:hunter2@a"]);
    serve(&["--nats", "nats://127.0.0.1:1", "--nats-keys", "/no/such"]);
    std::fs::write(folder.file("keys"), "{}").unwrap();
    let keys = folder.file("keys").display().to_string();
    serve(&["--nats", "nats://127.0.0.1:1", "--nats-keys", &keys]);
    // Neither a password nor the first user is shown.
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn server_works_while_nats_is_unavailable() {
    let folder = TempFolder::new();
    let server = Process::start_with(folder.path(), &["--nats", "nats://127.0.0.1:1"]);
    let client = server.client();
    client.expect(200, "GET", "/api/v1/releases/", None);
}

#[test]
fn run_over_nats_survives_server_kills() {
    let Some(secured_nats) = SecuredNats::start() else { return };
    let mut run = Run::on(secured_nats.site(), "nats", 2);
    for node_idx in 0..3 {
        until("the agent connects over NATS", || is_over_nats(&run.site, node_idx).then_some(()));
    }
    run.kill_repeatedly(|site, _| {
        site.kill_server();
        site.start_server();
    });
    let attempts = run.verify();
    assert!(attempts.values().all(|n_attempts| *n_attempts == 1), "an attempt was interrupted: {attempts:?}");
}

#[test]
fn run_survives_nats_restarts() {
    let Some(mut secured_nats) = SecuredNats::start() else { return };
    let mut run = Run::on(secured_nats.site(), "nats away", 8);
    run.kill_repeatedly(|_, _| {
        secured_nats.nats.kill();
        secured_nats.nats.start();
    });
    let attempts = run.verify();
    assert!(attempts.values().all(|n_attempts| *n_attempts == 1), "an attempt was interrupted: {attempts:?}");
}

#[test]
fn agents_connect_directly_while_nats_is_unavailable() {
    let Some(mut secured_nats) = SecuredNats::start() else { return };
    let site = secured_nats.site();
    site.await_agent(0);
    secured_nats.nats.kill();
    until("the agent connects directly", || {
        let log = site.read("agent-0.log");
        log.contains("connecting directly to the server").then_some(())
    });
    site.await_agent(0);
    site.upload(&json!([{"id": "t", "type": "shell", "version": "2.1.0", "roles": "*",
        "parameters": {"cmd": "true"}}]));
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    secured_nats.nats.start();
    until("the agent returns to NATS", || {
        site.read("agent-0.log").contains("NATS available again").then_some(())
    });
    site.await_agent(0);
    assert_eq!(site.deploy(&json!({"force": true}))["status"], "ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_is_limited_to_its_own_subjects() {
    let Some(secured_nats) = SecuredNats::start() else { return };
    let site = secured_nats.site();
    let (keys, own) = user_of(&site, 0);
    let (_, foreign) = user_of(&site, 1);
    let (uid, other) = (site.nodes[0], site.nodes[1]);
    let server = secured_nats.as_server().await;
    let agent = connect(&secured_nats.nats, NatsAuth::Keys(keys)).await;
    wait("both are connected", || server.is_connected() && agent.is_connected()).await;

    let mut messages = server.subscribe(&pattern(">")).await.unwrap();
    let allowed = format!("stoker.agent.{uid}.{own}.out.x");
    let forbidden = [
        format!("stoker.agent.{other}.{foreign}.out.x"),
        format!("stoker.agent.{other}.{foreign}.call"),
        format!("stoker.agent.{other}.{foreign}.result"),
        // The key of the agent itself with the UID of another node.
        format!("stoker.agent.{other}.{own}.call"),
        format!("stoker.agent.{other}.{own}.result"),
        format!("stoker.agent.{uid}.{own}.in.x"),
        "stoker.servers".to_owned(),
    ];
    let publish_until_received = async {
        // Repeat: the subscription may reach NATS after the first messages.
        loop {
            for text in &forbidden {
                agent.publish(&subject(text), b"forged".to_vec()).await.unwrap();
            }
            agent.publish(&subject(&allowed), b"true".to_vec()).await.unwrap();
            while let Ok(message) = tokio::time::timeout(Duration::from_millis(100), messages.next()).await {
                let message = message.unwrap();
                assert_ne!(message.body, b"forged", "{}", message.subject);
                if message.body == b"true" {
                    return;
                }
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), publish_until_received)
        .await
        .expect("permitted messages arrive");

    let mut foreign_subscriptions = Vec::new();
    for text in [">", "stoker.>", "stoker.agent.*.*.in.>", &format!("stoker.agent.{other}.{foreign}.in.>")] {
        foreign_subscriptions.push(agent.subscribe(&pattern(text)).await.unwrap());
    }
    let mut own_in = agent.subscribe(&pattern(&format!("stoker.agent.{uid}.{own}.in.y"))).await.unwrap();
    let publish_to_agent = async {
        loop {
            server.publish(&subject(&format!("stoker.agent.{other}.{foreign}.in.y")), vec![1]).await.unwrap();
            server.publish(&subject(&format!("stoker.agent.{uid}.{own}.in.y")), vec![2]).await.unwrap();
            if let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(100), own_in.next()).await {
                return message.body;
            }
        }
    };
    let body = tokio::time::timeout(Duration::from_secs(20), publish_to_agent)
        .await
        .expect("messages to the agent arrive");
    assert_eq!(body, [2]);
    for mut subscription in foreign_subscriptions {
        let received = tokio::time::timeout(Duration::from_millis(50), subscription.next()).await;
        assert!(!matches!(received, Ok(Some(_))), "the agent receives messages of others");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_agent_is_disconnected_by_nats() {
    let Some(secured_nats) = SecuredNats::start() else { return };
    let site = secured_nats.site();
    let (keys, _) = user_of(&site, 0);
    let (other_keys, _) = user_of(&site, 1);
    let agent = connect(&secured_nats.nats, NatsAuth::Keys(keys.clone())).await;
    let other = connect(&secured_nats.nats, NatsAuth::Keys(other_keys)).await;
    wait("both are connected", || agent.is_connected() && other.is_connected()).await;
    let uid = site.nodes[0].to_string();
    let agents = site.get("/api/v1/agents").unwrap();
    let id =
        agents.as_array().unwrap().iter().find(|agent| agent["uid"] == uid.as_str()).unwrap()["id"].clone();
    site.client.expect(204, "DELETE", &format!("/api/v1/agents/{id}"), None);
    wait("the agent is disconnected", || !agent.is_connected()).await;
    until("the agent is rejected", || {
        site.read("agent-0.log").contains("join again with a new token").then_some(())
    });
    let reconnected = connect(&secured_nats.nats, NatsAuth::Keys(keys)).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!reconnected.is_connected() && !agent.is_connected(), "the revoked agent is connected");
    assert!(other.is_connected(), "other agents stay connected");
}

/// Returns the value of a server metric; empty if it is not exported.
fn metric(site: &Site, name: &str) -> String {
    let text = site.client.text("/metrics");
    text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
}

/// Starts a run in which the first node waits for a file; returns the run and the waiting attempt.
fn start_waiting_run(site: &Site) -> (i64, AttemptKey) {
    let file = |name: &str| site.file(name).display().to_string();
    let cmd = format!(
        "echo \"$STOKER_ATTEMPT\" >{}\nwhile [ ! -e {} ]; do sleep 0.05; done\n",
        file("attempt"),
        file("go")
    );
    site.upload(&json!([{"id": "t", "type": "shell", "version": "2.0.0", "roles": "controller",
        "parameters": {"cmd": cmd, "timeout": 120, "retries": 0}}]));
    let run = site.execute(&json!({}));
    let numbers = until("the task waits", || {
        let text = site.read("attempt");
        let numbers = text.split_once('@')?.0.split('/').map(|word| word.parse::<u32>().unwrap());
        Some(numbers.collect::<Vec<_>>())
    });
    let [child, instance, attempt] = numbers[..] else { panic!("expected three numbers: {numbers:?}") };
    (run, AttemptKey { run: RunId(child.into()), instance: InstanceIdx::new(instance), attempt })
}

async fn publish_result(
    secured_nats: &SecuredNats,
    (keys, key): (UserKeys, String),
    uid: i64,
    attempt: AttemptKey,
) {
    let uid = stoker_model::AgentUid::from(stoker_model::NodeId(uid));
    let (inbox, auth) = (Some(stoker_wire::nats::inbox_prefix(&uid, &key)), NatsAuth::Keys(keys));
    let options = NatsOptions { auth, inbox, ..NatsOptions::new(secured_nats.nats.url()) };
    let agent = Bus::Nats(NatsBus::connect(&options).await.unwrap());
    wait("the agent is connected", || agent.is_connected()).await;
    let (at, end, report) = (Micros(1), ResultKind::Succeeded, TaskReport::default());
    let finished = FromAgent::Finished(AttemptResult { key: attempt, at, end, report });
    let body = stoker_wire::encode_from_agent(&finished).into_bytes();
    let subject = Subject::new(stoker_wire::nats::result_subject(&uid, &key)).unwrap();
    agent
        .publish_durable(&subject, &stoker_wire::nats::result_message_id(&key, attempt), body)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_result_of_another_node_is_rejected() {
    let Some(secured_nats) = SecuredNats::start() else { return };
    let site = secured_nats.site();
    site.await_agent(0);
    let (run, attempt) = start_waiting_run(&site);
    until("NATS stores results", || (metric(&site, "stoker_bus_keeps") == "1").then_some(()));
    let refused_metric = "stoker_bus_results_total{outcome=\"refused\"}";
    publish_result(&secured_nats, user_of(&site, 1), site.nodes[1], attempt).await;
    until("the forged result is rejected", || (metric(&site, refused_metric) == "1").then_some(()));
    assert!(
        site.read("server.log").contains("refused the result of another agent's attempt"),
        "{}",
        site.read("server.log")
    );
    assert!(site.if_ended(run).is_none(), "the first node is still running the task");
    // The same result from the node that executes the attempt is accepted.
    publish_result(&secured_nats, user_of(&site, 0), site.nodes[0], attempt).await;
    assert_eq!(site.wait_for_end(run)["status"], "ready");
    until("the result is recorded", || {
        let n_settled = metric(&site, "stoker_bus_results_total{outcome=\"settled\"}");
        (!n_settled.is_empty()).then_some(())
    });
    std::fs::write(site.file("go"), "").unwrap();
}

#[test]
fn nats_without_jetstream_works() {
    let folder = TempFolder::new();
    assert!(init(&folder).status.success());
    let path = folder.file("nats/nats-server.conf");
    let config = std::fs::read_to_string(&path).unwrap();
    let without_jetstream: Vec<&str> = config.lines().filter(|line| !line.starts_with("jetstream")).collect();
    assert!(without_jetstream.len() < config.lines().count());
    std::fs::write(&path, without_jetstream.join("\n")).unwrap();
    let Some(nats) = TestNats::with_config(&path) else { return };
    let secured_nats = SecuredNats { nats, folder };
    let site = secured_nats.site();
    until("the agent connects over NATS", || is_over_nats(&site, 0).then_some(()));
    site.upload(&json!([{"id": "t", "type": "shell", "version": "2.1.0", "roles": "*",
        "parameters": {"cmd": "true"}}]));
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    let n_warnings = || site.read("server.log").matches("the NATS result stream is unavailable").count();
    until("the server logs a warning", || (n_warnings() > 0).then_some(()));
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(n_warnings(), 1, "the warning is logged once");
    assert_eq!(metric(&site, "stoker_bus_keeps"), "0");
}

#[test]
fn nats_without_authentication_is_not_used_for_agents() {
    let Some(secured_nats) = SecuredNats::start() else { return };
    let Some(open) = TestNats::start_open() else { return };
    let keys = secured_nats.folder.file("nats/keys.json").display().to_string();
    let site = Site::with_agents(
        &json!([]),
        &["--nats", &open.url(), "--nats-keys", &keys],
        &["--nats", &open.url()],
    );
    // Agents connect directly.
    site.await_agent(0);
    until("the agent connects directly", || {
        site.read("agent-0.log").contains("connecting directly to the server").then_some(())
    });
    assert!(
        site.read("server.log").contains("accepts unauthenticated clients"),
        "{}",
        site.read("server.log")
    );
}
