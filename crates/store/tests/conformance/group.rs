use stoker_model::{AgentConnectionChange, AgentHost, Micros, ServerRecord};
use stoker_store::StoreError;

use crate::fixture::{Fixture, NOW, commit, run};

fn member(id: &str, seen_at: Micros) -> ServerRecord {
    ServerRecord {
        id: id.to_owned(),
        name: "here".to_owned(),
        address: "127.0.0.1:1".to_owned(),
        version: "1".to_owned(),
        receives_bus: false,
        started_at: NOW,
        heartbeat_at: seen_at,
    }
}

fn change(uid: &str, connection: i64, is_connected: bool) -> AgentConnectionChange {
    AgentConnectionChange { uid: uid.into(), connection, is_connected }
}

fn host(uid: &str, number: i64, server: Option<&str>) -> AgentHost {
    AgentHost { uid: uid.into(), number, server_id: server.map(str::to_owned) }
}

async fn heartbeats_register_servers(fixture: &Fixture) {
    let store = &fixture.store;
    store.server_heartbeat(&member("a", NOW)).await.unwrap();
    store.server_heartbeat(&member("b", NOW)).await.unwrap();
    let later =
        ServerRecord { receives_bus: true, name: "ignored".to_owned(), ..member("b", NOW.plus_seconds(2)) };
    store.server_heartbeat(&later).await.unwrap();
    let expected = ServerRecord { name: "here".to_owned(), ..later };
    assert_eq!(fixture.read().await.servers().await.unwrap(), [member("a", NOW), expected.clone()]);
    store.servers_expire(NOW.plus_seconds(1), NOW.plus_seconds(3)).await.unwrap();
    assert_eq!(fixture.read().await.servers().await.unwrap(), [expected]);
    let wrong = store.server_heartbeat(&member("a\0", NOW)).await;
    assert_error!(wrong, StoreError::Unstorable { .. });
}

async fn leaving_server_releases_leases_and_mail(fixture: &Fixture) {
    let store = &fixture.store;
    let mut writing = fixture.change().await;
    let run = run(&mut writing, "work").await;
    writing.run_work_create(run.id, &serde_json::json!({})).await.unwrap();
    commit(writing).await;
    let until = NOW.plus_seconds(60);
    store.server_heartbeat(&member("a", NOW)).await.unwrap();
    store.run_lease_acquire(run.id, "a", NOW, until).await.unwrap();
    assert_eq!(fixture.read().await.runs_leased(NOW).await.unwrap(), [("a".to_owned(), run.id)]);
    assert_eq!(fixture.read().await.runs_leased(until).await.unwrap(), [], "the lease has expired");
    assert!(store.lease_acquire("sweep", "a", NOW, until).await.unwrap());
    store.mail_put(&[("a".to_owned(), "x".to_owned())], until, NOW).await.unwrap();
    store.server_leave("a", NOW).await.unwrap();
    let mut session = fixture.read().await;
    assert_eq!(session.servers().await.unwrap(), [member("a", Micros(0))]);
    assert_eq!(session.mail_since("a", 0, 10).await.unwrap(), []);
    assert_eq!(session.run_work_unowned("b", NOW).await.unwrap().len(), 1);
    drop(session);
    assert!(store.lease_acquire("sweep", "b", NOW, until).await.unwrap());
    // The previous owner's lease generation is fenced off.
    assert_eq!(store.run_lease_acquire(run.id, "b", NOW, until).await.unwrap(), Some(2));
    let mut writing = fixture.change().await;
    assert_error!(writing.run_lease_require(run.id, 1).await, StoreError::Stale { current: 2 });
    writing.run_lease_require(run.id, 2).await.unwrap();
}

async fn stale_disconnect_is_ignored(fixture: &Fixture) {
    let store = &fixture.store;
    store.agent_hosts_put("a", &[change("7", 1, true), change("8", 2, true)], NOW).await.unwrap();
    let hosts = fixture.read().await.agent_hosts_since(0).await.unwrap();
    assert_eq!(hosts, [host("7", 1, Some("a")), host("8", 2, Some("a"))]);
    // The agent reconnected to another server, and to the same server.
    store.agent_hosts_put("b", &[change("7", 1, true)], NOW).await.unwrap();
    store.agent_hosts_put("a", &[change("8", 3, true), change("8", 4, true)], NOW).await.unwrap();
    let before = fixture.read().await.agent_hosts_since(2).await.unwrap();
    assert_eq!(before, [host("7", 3, Some("b")), host("8", 4, Some("a"))]);
    store.agent_hosts_put("a", &[change("7", 1, false), change("8", 3, false)], NOW).await.unwrap();
    assert_eq!(fixture.read().await.agent_hosts_since(2).await.unwrap(), before);
    store.agent_hosts_put("a", &[change("8", 4, false), change("9", 5, false)], NOW).await.unwrap();
    assert_eq!(fixture.read().await.agent_hosts_since(4).await.unwrap(), [host("8", 5, None)]);
    assert_eq!(fixture.read().await.agent_host_get(&"8".into()).await.unwrap(), Some(host("8", 5, None)));
    assert_eq!(fixture.read().await.agent_host_get(&"9".into()).await.unwrap(), None);
    store.agent_hosts_put("a", &[], NOW).await.unwrap();
}

async fn many_agents_connect_in_one_batch(fixture: &Fixture) {
    let all: Vec<AgentConnectionChange> =
        (0..95).map(|number| change(&format!("n{number}"), number, true)).collect();
    fixture.store.agent_hosts_put("a", &all, NOW).await.unwrap();
    let hosts = fixture.read().await.agent_hosts_since(0).await.unwrap();
    let numbers: Vec<i64> = hosts.iter().map(|host| host.number).collect();
    assert_eq!(numbers, (1..=95).collect::<Vec<_>>());
}

async fn mail_is_ordered_per_recipient(fixture: &Fixture) {
    let store = &fixture.store;
    let mail: Vec<(String, String)> =
        (0..90).map(|number| (["a", "b"][number % 2].to_owned(), number.to_string())).collect();
    store.mail_put(&mail, NOW.plus_seconds(10), NOW).await.unwrap();
    let first = fixture.read().await.mail_since("a", 0, 3).await.unwrap();
    assert_eq!(first.iter().map(|mail| mail.body.as_str()).collect::<Vec<_>>(), ["0", "2", "4"]);
    let rest = fixture.read().await.mail_since("a", first[2].id, 100).await.unwrap();
    assert_eq!(rest.len(), 42);
    store.mail_ack("a", first[2].id, NOW).await.unwrap();
    assert_eq!(fixture.read().await.mail_since("a", 0, 100).await.unwrap(), rest);
    store.servers_expire(NOW, NOW.plus_seconds(11)).await.unwrap();
    assert_eq!(fixture.read().await.mail_since("b", 0, 100).await.unwrap(), []);
}

async fn named_lease_has_one_owner(fixture: &Fixture) {
    let store = &fixture.store;
    let until = NOW.plus_seconds(10);
    assert!(store.lease_acquire("sweep", "a", NOW, until).await.unwrap());
    assert!(!store.lease_acquire("sweep", "b", NOW, until).await.unwrap());
    assert!(store.lease_acquire("other", "b", NOW, until).await.unwrap());
    assert!(store.lease_acquire("sweep", "a", NOW, until.plus_seconds(1)).await.unwrap());
    assert!(!store.lease_acquire("sweep", "b", until, until).await.unwrap());
    let late = until.plus_seconds(1);
    assert!(store.lease_acquire("sweep", "b", late, late.plus_seconds(1)).await.unwrap());
    assert!(!store.lease_acquire("sweep", "a", late, until).await.unwrap());
}

async fn first_shared_value_wins(fixture: &Fixture) {
    assert_eq!(fixture.store.shared_value_agree("key", "one", NOW).await.unwrap(), "one");
    assert_eq!(fixture.store.shared_value_agree("key", "two", NOW).await.unwrap(), "one");
    let mut writing = fixture.change().await;
    writing.shared_value_put("key", "two").await.unwrap();
    commit(writing).await;
    assert_eq!(fixture.store.shared_value_agree("key", "one", NOW).await.unwrap(), "two");
}

on_both![
    first_shared_value_wins,
    heartbeats_register_servers,
    leaving_server_releases_leases_and_mail,
    mail_is_ordered_per_recipient,
    many_agents_connect_in_one_batch,
    named_lease_has_one_owner,
    stale_disconnect_is_ignored,
];
