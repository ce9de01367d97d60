//! Replacement of a machine while the agent of the previous one is still running: only the new one counts.

use std::fs;

use serde_json::{Value, json};

use crate::site::{Site, touch, until};

/// A task on the first node that runs until a file exists.
fn waiting_task(site: &Site) -> Value {
    let (started, released) = (site.file("started"), site.file("released"));
    let cmd = format!(
        "touch {}; while [ ! -e {} ]; do sleep 0.05; done; echo done >>{}",
        started.display(),
        released.display(),
        site.file("done").display()
    );
    json!([{
        "id": "install", "type": "shell", "version": "3.0.0", "roles": ["controller"],
        "parameters": {"cmd": cmd, "retries": 0, "timeout": 600},
    }])
}

fn planned(site: &Site) -> Vec<Value> {
    let path = format!("/api/v1/clusters/{}/plans", site.cluster);
    let plan = site.client.expect(201, "POST", &path, Some(&json!({})));
    let path = format!("/api/v1/plans/{}/instances?action=run", plan["id"]);
    site.client.expect(200, "GET", &path, None).as_array().unwrap().clone()
}

/// The agent of the previous machine finishes its task after another agent has joined. Its result does not count.
#[test]
fn replaced_agent_cannot_report_results() {
    let mut site = Site::new(&json!([]));
    (0..site.nodes.len()).for_each(|node_idx| site.await_agent(node_idx));
    site.upload(&waiting_task(&site));
    let run = site.execute(&json!({}));
    until("the task starts", || site.file("started").exists().then_some(()));
    let before = site.joined_at(0);
    site.start_agent_in(0, "new-machine");
    site.await_join(0, &before);
    touch(&site.file("released"));
    until("the former agent finishes its task", || site.file("done").exists().then_some(()));
    let ended = site.wait_for_end(run);
    assert_eq!(ended["status"], "error", "{ended}");
    let history = site.history(run);
    assert!(history.iter().all(|row| row["status"] != "ready"), "{history:?}");
    assert_eq!(planned(&site).len(), 1, "nothing is installed on the new machine");
    // The new machine executes it once.
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    assert_eq!(fs::read_to_string(site.file("done")).unwrap(), "done\ndone\n");
    assert_eq!(planned(&site), Vec::<Value>::new());
}
