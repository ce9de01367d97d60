//! Acknowledged writes survive a crash, and no write is partial.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use stoker_testkit::TempFolder;

use crate::process::{Client, Process};

const N_WRITERS: usize = 16;
const N_WRITES: usize = 1000;
/// Number of acknowledged writes after which the server is killed.
const N_BEFORE_KILL: usize = 400;
const N_TASKS: usize = 15;

#[test]
fn acknowledged_writes_survive_a_kill() {
    let folder = TempFolder::new();
    let mut server = Process::start(folder.path());
    let client = server.client();
    let release = json!({"name": "r", "version": "1", "operating_system": "Ubuntu"});
    let release = client.expect(201, "POST", "/api/v1/releases", Some(&release))["id"].clone();
    let base = format!("/api/v1/releases/{release}/deployment_graphs");

    let (next, acknowledged) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..N_WRITERS {
            let client = client.clone();
            let (base, next, acknowledged) = (&base, &next, &acknowledged);
            scope.spawn(move || write(&client, base, next, acknowledged));
        }
        while acknowledged.lock().len() < N_BEFORE_KILL {
            std::thread::yield_now();
        }
        server.kill();
    });
    let acknowledged = acknowledged.into_inner();
    assert!(acknowledged.len() < N_WRITES, "all writes ended before the kill");

    let server = Process::start(folder.path());
    let client = server.client();
    let graphs = client.expect(200, "GET", &base, None);
    let mut stored = BTreeSet::new();
    for graph in graphs.as_array().unwrap() {
        let Some(index) = graph["name"].as_str().and_then(|name| name.parse::<usize>().ok()) else {
            continue;
        };
        assert_eq!(graph["tasks"].as_array().unwrap().len(), N_TASKS, "partially stored graph");
        assert_eq!(graph["tasks"][N_TASKS - 1]["id"], format!("task-{index}-{}", N_TASKS - 1));
        stored.insert(index);
    }
    let lost: Vec<_> = acknowledged.difference(&stored).collect();
    assert!(lost.is_empty(), "acknowledged but lost: {lost:?}");
    let audit_entries = client.expect(200, "GET", "/api/v1/audit?action=graph.create", None);
    assert!(audit_entries.as_array().unwrap().len() >= stored.len(), "each graph has an audit log entry");
}

/// Writes graphs until all are written or the server is killed.
fn write(client: &Client, base: &str, next: &AtomicUsize, acknowledged: &Mutex<BTreeSet<usize>>) {
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= N_WRITES {
            return;
        }
        let Ok((status, response)) = client.call("POST", &format!("{base}/w{index}"), Some(&graph(index)))
        else {
            return;
        };
        assert_eq!(status, 200, "{response}");
        acknowledged.lock().insert(index);
    }
}

fn graph(index: usize) -> Value {
    let task = |task: usize| json!({"id": format!("task-{index}-{task}"), "type": "shell", "role": "*"});
    json!({"name": index.to_string(), "tasks": (0..N_TASKS).map(task).collect::<Vec<_>>()})
}
