//! Tasks that log their execution, and the invariants of the logs after a run.
//!
//! Every task appends its attempt to one file of its node and its name to another file. The first file shows
//! whether an attempt was executed twice, the second whether every task was executed exactly once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::site::{N_NODES, Site};

fn name(index: usize) -> String {
    format!("t-{index:03}")
}

/// Uploads tasks for all nodes, each of which takes `ms` milliseconds.
pub(crate) fn upload(site: &Site, n_tasks: usize, ms: usize) {
    let folder = site.file("");
    let folder = folder.display();
    let task = |index: usize| {
        let name = name(index);
        let cmd = format!(
            "cd {folder}\necho \"$STOKER_ATTEMPT\" >>attempts-$STOKER_NODE\nsleep {}.{:03}\n\
             echo {name} >>lines-$STOKER_NODE\n",
            ms / 1000,
            ms % 1000
        );
        json!({
            "id": name, "type": "shell", "version": "2.0.0", "roles": "*",
            "parameters": {"cmd": cmd, "timeout": 60, "retries": 0},
        })
    };
    site.upload(&(0..n_tasks).map(task).collect());
}

pub(crate) fn n_lines(site: &Site) -> usize {
    site.nodes.iter().map(|node| site.read(&format!("lines-{node}")).lines().count()).sum()
}

/// Waits for the end of a run and verifies its result, logs, history and events.
pub(crate) fn verify_run(site: &Site, run: i64, n_tasks: usize) {
    let details = site.wait_for_end(run);
    assert_eq!(details["status"], "ready", "{details}");
    let expected: BTreeSet<String> = (0..n_tasks).map(name).collect();
    for node in &site.nodes {
        let text = site.read(&format!("lines-{node}"));
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), n_tasks, "each task once on node {node}");
        assert_eq!(lines.into_iter().collect::<BTreeSet<_>>(), expected);
        let text = site.read(&format!("attempts-{node}"));
        let attempts: BTreeSet<&str> =
            text.lines().filter_map(|line| Some(line.split_once('@')?.0)).collect();
        assert_eq!((attempts.len(), text.lines().count()), (n_tasks, n_tasks), "each attempt once: {text}");
    }
    let history = (0..site.servers.len()).find_map(|server| {
        site.get(server, &format!("/api/v1/transactions/{run}/deployment_history?include_summary=1"))
    });
    let history = history.unwrap();
    let history = history.as_array().unwrap();
    assert_eq!(history.len(), n_tasks * N_NODES);
    for row in history {
        assert_eq!(row["status"], "ready", "{row}");
        assert!(row["time_start"].is_string() && row["time_end"].is_string(), "{row}");
    }
    verify_events(site, run, n_tasks);
}

/// Verifies that sequence numbers have no gaps, and that each instance succeeded once, at its first attempt.
fn verify_events(site: &Site, run: i64, n_tasks: usize) {
    let path = format!("/api/v1/runs/{run}/events?limit=10000");
    let events = (0..site.servers.len()).find_map(|server| site.get(server, &path)).unwrap();
    let events: Vec<&Value> = events.as_array().unwrap().iter().collect();
    let numbers: Vec<i64> = events.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>());
    let ends: Vec<&&Value> = events.iter().filter(|event| event["kind"] == "attempt_ended").collect();
    for event in &ends {
        assert_eq!(
            (&event["body"]["end"]["how"], &event["body"]["attempt"]),
            (&json!("succeeded"), &json!(1))
        );
    }
    assert_eq!(ends.len(), n_tasks * N_NODES);
    assert!(!events.iter().any(|event| event["kind"] == "late_result"));
}
