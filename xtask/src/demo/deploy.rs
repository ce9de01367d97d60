//! A deployment on five nodes, each with an agent inside of the server: planned, run, and run again after a change.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::server::{Api, step, text};
use crate::failure::{Failure, Outcome};
use crate::terminal::{Style, paint};

/// How long a run of this size may take on a slow machine.
const TRIES_MAX: usize = 1200;
const PAUSE: Duration = Duration::from_millis(100);

pub(super) fn run(api: &Api, cluster: i64) -> Outcome {
    step("Five nodes: one keeps the orders, four answer customers", "POST nodes; POST clusters/1/assignment");
    let mut roles = Vec::new();
    for number in 1..=5 {
        let found = json!({"mac": format!("52:54:00:00:00:{number:02x}"), "status": "discover"});
        let role = if number == 1 { "database" } else { "web" };
        roles.push(json!({"id": api.create("nodes", &found.to_string())?, "roles": [role]}));
    }
    api.call("POST", &format!("clusters/{cluster}/assignment"), &Value::from(roles).to_string())?;
    plan_and_run(api, cluster, "What would a deployment do, and why?")?;

    step("Somebody switches debugging on", "PUT clusters/1/attributes");
    let debug = json!({"editable": {"common": {"debug": {"value": true}}}});
    api.call("PUT", &format!("clusters/{cluster}/attributes"), &debug.to_string())?;
    plan_and_run(api, cluster, "The next deployment does only what depends on it")
}

fn plan_and_run(api: &Api, cluster: i64, title: &str) -> Outcome {
    step(title, "POST clusters/1/plans");
    let plan = api.create(&format!("clusters/{cluster}/plans"), "{}")?;
    let instances = api.call("GET", &format!("plans/{plan}/instances"), "")?;
    show_plan(&instances);
    step("What was looked at is what runs", &format!("POST plans/{plan}/apply"));
    let run = api.create(&format!("plans/{plan}/apply"), "{}")?;
    let ended = wait(api, run)?;
    let history =
        api.call("GET", &format!("transactions/{run}/deployment_history?statuses=ready,error"), "")?;
    for record in history.as_array().into_iter().flatten() {
        let (task, node) = (text(&record["task_name"]), text(&record["node_id"]));
        println!("  {:<7} {task} on node {node}", text(&record["status"]));
    }
    println!("  the run is {}", text(&ended["status"]));
    if ended["status"] == "ready" { Ok(()) } else { Err(Failure::new(format!("the run failed: {ended}"))) }
}

/// One line for all nodes on which the same happens for the same reason.
fn show_plan(instances: &Value) {
    let mut nodes: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
    for instance in instances.as_array().into_iter().flatten() {
        let key = (text(&instance["action"]), text(&instance["task"]), text(&instance["reason"]));
        nodes.entry(key).or_default().push(text(&instance["node"]));
    }
    for ((action, task, reason), nodes) in nodes {
        println!("  {action:<5} {task} on {}", nodes.join(", "));
        println!("        {}", paint(Style::Dim, reason));
    }
}

fn wait(api: &Api, run: i64) -> Outcome<Value> {
    for _ in 0..TRIES_MAX {
        let shown = api.call("GET", &format!("transactions/{run}"), "")?;
        if shown["status"] == "ready" || shown["status"] == "error" {
            return Ok(shown);
        }
        std::thread::sleep(PAUSE);
    }
    Err(Failure::new("the run did not end in time"))
}
