//! Agents that come over NATS: a real one, set up by `stoker nats init`.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::{Value, json};
use stoker_bus::{Bus, Nats, NatsAuth, NatsOptions, Pattern, Subject, UserKeys};
use stoker_engine::session::{AttemptKey, End, Finished, FromAgent};
use stoker_model::{JsonMap, Micros, RunId};
use stoker_testkit::{Folder, TestNats};

use crate::guarded::{Guarded, init};
use crate::kills::Run;
use crate::process::{Process, bare_command};
use crate::site::{Site, until};

impl Guarded {
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
    Bus::Nats(Nats::connect(&options).await.unwrap())
}

async fn wait(what: &str, mut look: impl FnMut() -> bool) {
    let looking = async {
        while !look() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(30), looking).await.is_ok(), "in vain: {what}");
}

/// The user of NATS that the agent of a node gets: keys, and how it is called.
fn user_of(site: &Site, place: usize) -> (UserKeys, String) {
    site.await_agent(place);
    let membership = site.read(&format!("agent-{place}/membership.json"));
    let membership: Value = serde_json::from_str(&membership).unwrap();
    let url = format!("{}/api/v1/agents/nats_user", site.url());
    let bearer = format!("Bearer {}", membership["credential"].as_str().unwrap());
    let mut answer = ureq::post(url).header("authorization", bearer).send_empty().unwrap();
    let user: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
    let text = |name: &str| user[name].as_str().unwrap().to_owned();
    (UserKeys::new(text("jwt"), text("seed")), text("key"))
}

fn subject(text: &str) -> Subject {
    Subject::new(text.split('.')).unwrap()
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text.split('.')).unwrap()
}

fn is_over_nats(site: &Site, place: usize) -> bool {
    let log = site.read(&format!("agent-{place}.log"));
    log.rfind("through NATS").unwrap_or(0) > log.rfind("straight to the server").unwrap_or(0)
}

#[test]
fn what_init_writes_is_for_nobody_else_and_is_not_overwritten() {
    let folder = Folder::new();
    let first = init(&folder);
    assert!(first.status.success(), "{first:?}");
    for name in ["nats-server.conf", "servers.creds", "keys.json"] {
        let mode = std::fs::metadata(folder.file("nats").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let second = init(&folder);
    assert!(!second.status.success());
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("is there already"), "{said}");
}

#[test]
fn wrong_options_are_named() {
    let folder = Folder::new();
    let serve = |options: &[&str]| {
        let mut command = bare_command();
        command.arg("--data-dir").arg(folder.file("data")).env_remove("STOKER_NATS_URL");
        let output = command.args(options).output().unwrap();
        assert!(!output.status.success(), "{options:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(serve(&["--nats-keys", "x"]).contains("mean nothing without NATS"));
    let said = serve(&["--nats", "http://u:hunter2@a"]);
    assert!(said.contains("is no address of NATS") && !said.contains("hunter2"), "{said}");
    assert!(serve(&["--nats", "nats://127.0.0.1:1", "--nats-keys", "/no/such"]).contains("/no/such"));
    std::fs::write(folder.file("keys"), "{}").unwrap();
    let keys = folder.file("keys").display().to_string();
    let said = serve(&["--nats", "nats://127.0.0.1:1", "--nats-keys", &keys]);
    assert!(said.contains("is not what `stoker nats init` wrote"), "{said}");
}

#[test]
fn a_server_starts_and_works_while_nats_is_away() {
    let folder = Folder::new();
    let server = Process::start_with(folder.path(), &["--nats", "nats://127.0.0.1:1"]);
    let client = server.client();
    client.expect(200, "GET", "/api/v1/releases/", None);
}

#[test]
fn a_run_goes_through_nats_and_survives_a_server_that_is_killed() {
    let Some(guarded) = Guarded::start() else { return };
    let mut run = Run::on(guarded.site(), "nats", 2);
    for place in 0..3 {
        until("the agent comes over NATS", || is_over_nats(&run.site, place).then_some(()));
    }
    run.go_on(|site, _| {
        site.kill_server();
        site.start_server();
    });
    let attempts = run.judge();
    assert!(attempts.values().all(|n_attempts| *n_attempts == 1), "no agent was interrupted: {attempts:?}");
}

#[test]
fn nats_may_be_stopped_and_started_in_the_middle_of_a_run() {
    let Some(mut guarded) = Guarded::start() else { return };
    let mut run = Run::on(guarded.site(), "nats away", 8);
    run.go_on(|_, _| {
        guarded.nats.stop();
        guarded.nats.start();
    });
    let attempts = run.judge();
    assert!(attempts.values().all(|n_attempts| *n_attempts == 1), "no agent was interrupted: {attempts:?}");
}

#[test]
fn agents_go_straight_while_nats_is_away_and_come_back() {
    let Some(mut guarded) = Guarded::start() else { return };
    let site = guarded.site();
    site.await_agent(0);
    guarded.nats.stop();
    until("the agent goes straight", || {
        let log = site.read("agent-0.log");
        log.contains("straight to the server").then_some(())
    });
    site.await_agent(0);
    site.upload(&json!([{"id": "t", "type": "shell", "version": "2.1.0", "roles": "*",
        "parameters": {"cmd": "true"}}]));
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    guarded.nats.start();
    until("the agent comes back", || site.read("agent-0.log").contains("NATS is back").then_some(()));
    site.await_agent(0);
    assert_eq!(site.deploy(&json!({"force": true}))["status"], "ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_speaks_and_listens_under_its_own_key_alone() {
    let Some(guarded) = Guarded::start() else { return };
    let site = guarded.site();
    let (keys, own) = user_of(&site, 0);
    let (_, foreign) = user_of(&site, 1);
    let (uid, other) = (site.nodes[0], site.nodes[1]);
    let server = guarded.as_server().await;
    let agent = connect(&guarded.nats, NatsAuth::Keys(keys)).await;
    wait("both are let in", || server.is_up() && agent.is_up()).await;

    let mut heard = server.subscribe(&pattern(">")).await.unwrap();
    let allowed = format!("stoker.agent.{uid}.{own}.out.x");
    let forbidden = [
        format!("stoker.agent.{other}.{foreign}.out.x"),
        format!("stoker.agent.{other}.{foreign}.call"),
        format!("stoker.agent.{other}.{foreign}.result"),
        // The key of one with the uid of another.
        format!("stoker.agent.{other}.{own}.call"),
        format!("stoker.agent.{other}.{own}.result"),
        format!("stoker.agent.{uid}.{own}.in.x"),
        "stoker.servers".to_owned(),
    ];
    let listening = async {
        // Said until it is heard: the listener may come to NATS after the first of them.
        loop {
            for text in &forbidden {
                agent.publish(&subject(text), b"forged".to_vec()).await.unwrap();
            }
            agent.publish(&subject(&allowed), b"true".to_vec()).await.unwrap();
            while let Ok(message) = tokio::time::timeout(Duration::from_millis(100), heard.next()).await {
                let message = message.unwrap();
                assert_ne!(message.body, b"forged", "{}", message.subject);
                if message.body == b"true" {
                    return;
                }
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), listening).await.expect("what is allowed arrives");

    let mut spying = Vec::new();
    for text in [">", "stoker.>", "stoker.agent.*.*.in.>", &format!("stoker.agent.{other}.{foreign}.in.>")] {
        spying.push(agent.subscribe(&pattern(text)).await.unwrap());
    }
    let mut own_in = agent.subscribe(&pattern(&format!("stoker.agent.{uid}.{own}.in.y"))).await.unwrap();
    let hearing = async {
        loop {
            server.publish(&subject(&format!("stoker.agent.{other}.{foreign}.in.y")), vec![1]).await.unwrap();
            server.publish(&subject(&format!("stoker.agent.{uid}.{own}.in.y")), vec![2]).await.unwrap();
            if let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(100), own_in.next()).await {
                return message.body;
            }
        }
    };
    let body = tokio::time::timeout(Duration::from_secs(20), hearing).await.expect("its own arrives");
    assert_eq!(body, [2]);
    for mut spy in spying {
        let spied = tokio::time::timeout(Duration::from_millis(50), spy.next()).await;
        assert!(!matches!(spied, Ok(Some(_))), "it hears what is not for it");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_sent_away_is_cut_off_by_nats() {
    let Some(guarded) = Guarded::start() else { return };
    let site = guarded.site();
    let (keys, _) = user_of(&site, 0);
    let (kept, _) = user_of(&site, 1);
    let agent = connect(&guarded.nats, NatsAuth::Keys(keys.clone())).await;
    let other = connect(&guarded.nats, NatsAuth::Keys(kept)).await;
    wait("both are let in", || agent.is_up() && other.is_up()).await;
    let uid = site.nodes[0].to_string();
    let agents = site.get("/api/v1/agents").unwrap();
    let id =
        agents.as_array().unwrap().iter().find(|agent| agent["uid"] == uid.as_str()).unwrap()["id"].clone();
    site.client.expect(204, "DELETE", &format!("/api/v1/agents/{id}"), None);
    wait("it is cut off", || !agent.is_up()).await;
    until("it is told", || site.read("agent-0.log").contains("join again with a new token").then_some(()));
    let again = connect(&guarded.nats, NatsAuth::Keys(keys)).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!again.is_up() && !agent.is_up(), "it is let in again");
    assert!(other.is_up(), "the others are not touched");
}

/// A number of the server, if it has counted anything.
fn metric(site: &Site, name: &str) -> String {
    let text = site.client.text("/metrics");
    text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
}

/// Begins a run in which the first node waits for a file: the run, and the attempt that waits.
fn waiting_run(site: &Site) -> (i64, AttemptKey) {
    let file = |name: &str| site.file(name).display().to_string();
    let cmd = format!(
        "echo \"$STOKER_ATTEMPT\" >{}\nwhile [ ! -e {} ]; do sleep 0.05; done\n",
        file("attempt"),
        file("go")
    );
    site.upload(&json!([{"id": "t", "type": "shell", "version": "2.0.0", "roles": "controller",
        "parameters": {"cmd": cmd, "timeout": 120, "retries": 0}}]));
    let run = site.execute(&json!({}));
    let numbers = until("it waits", || {
        let text = site.read("attempt");
        let numbers = text.split_once('@')?.0.split('/').map(|word| word.parse::<u32>().unwrap());
        Some(numbers.collect::<Vec<_>>())
    });
    let [part, instance, attempt] = numbers[..] else { panic!("three numbers: {numbers:?}") };
    (run, AttemptKey { run: RunId(part.into()), instance, attempt })
}

async fn forge(guarded: &Guarded, (keys, key): (UserKeys, String), uid: i64, attempt: AttemptKey) {
    let uid = uid.to_string();
    let (inbox, auth) = (Some(stoker_wire::nats::inbox(&uid, &key)), NatsAuth::Keys(keys));
    let options = NatsOptions { auth, inbox, ..NatsOptions::new(guarded.nats.url()) };
    let agent = Bus::Nats(Nats::connect(&options).await.unwrap());
    wait("it is let in", || agent.is_up()).await;
    let (at, end, summary) = (Micros(1), End::Succeeded, JsonMap::new());
    let finished = FromAgent::Finished(Finished { key: attempt, at, end, summary });
    let body = stoker_wire::encode_from_agent(&finished).into_bytes();
    let subject = Subject::new(stoker_wire::nats::result(&uid, &key)).unwrap();
    agent.keep(&subject, &stoker_wire::nats::result_id(&key, attempt), body).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_nats_kept_is_believed_of_whoever_carried_it_out_alone() {
    let Some(guarded) = Guarded::start() else { return };
    let site = guarded.site();
    site.await_agent(0);
    let (run, attempt) = waiting_run(&site);
    until("NATS keeps results", || (metric(&site, "stoker_bus_keeps") == "1").then_some(()));
    let refused = "stoker_bus_results_total{outcome=\"refused\"}";
    forge(&guarded, user_of(&site, 1), site.nodes[1], attempt).await;
    until("it is not believed", || (metric(&site, refused) == "1").then_some(()));
    assert!(
        site.read("server.log").contains("an attempt that is not its own"),
        "{}",
        site.read("server.log")
    );
    assert!(site.if_ended(run).is_none(), "the first node is still at it");
    // The very same of whoever carries it out is what its agent would have said.
    forge(&guarded, user_of(&site, 0), site.nodes[0], attempt).await;
    assert_eq!(site.ended(run)["status"], "ready");
    until("it is safe", || {
        let settled = metric(&site, "stoker_bus_results_total{outcome=\"settled\"}");
        (!settled.is_empty()).then_some(())
    });
    std::fs::write(site.file("go"), "").unwrap();
}

#[test]
fn a_nats_that_keeps_nothing_will_do() {
    let folder = Folder::new();
    assert!(init(&folder).status.success());
    let path = folder.file("nats/nats-server.conf");
    let config = std::fs::read_to_string(&path).unwrap();
    let without: Vec<&str> = config.lines().filter(|line| !line.starts_with("jetstream")).collect();
    assert!(without.len() < config.lines().count());
    std::fs::write(&path, without.join("\n")).unwrap();
    let Some(nats) = TestNats::configured(&path) else { return };
    let guarded = Guarded { nats, folder };
    let site = guarded.site();
    until("the agent comes over NATS", || is_over_nats(&site, 0).then_some(()));
    site.upload(&json!([{"id": "t", "type": "shell", "version": "2.1.0", "roles": "*",
        "parameters": {"cmd": "true"}}]));
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    let n_said = || site.read("server.log").matches("NATS keeps no results of agents").count();
    until("it is said", || (n_said() > 0).then_some(()));
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(n_said(), 1, "once is enough");
    assert_eq!(metric(&site, "stoker_bus_keeps"), "0");
}

#[test]
fn nobody_is_believed_on_a_nats_that_lets_everybody_in() {
    let Some(guarded) = Guarded::start() else { return };
    let Some(open) = TestNats::open() else { return };
    let keys = guarded.folder.file("nats/keys.json").display().to_string();
    let site = Site::with_agents(
        &json!([]),
        &["--nats", &open.url(), "--nats-keys", &keys],
        &["--nats", &open.url()],
    );
    // It works, straight.
    site.await_agent(0);
    until("it goes straight", || site.read("agent-0.log").contains("straight to the server").then_some(()));
    assert!(site.read("server.log").contains("lets everybody in"), "{}", site.read("server.log"));
}
