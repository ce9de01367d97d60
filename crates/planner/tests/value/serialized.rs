//! The Fuel serialization is equivalent to the plan.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use stoker_planner::{ExplainedPlan, FuelSerialization, InstanceAction};

use crate::plans::{mixed, real_plans};
use crate::small::{input, node, planned, shell, task};

type Edges = BTreeSet<(String, String)>;

fn check(name: &str, explained: &ExplainedPlan) {
    let plan = &explained.plan;
    let shape: Json = serde_json::from_str(&FuelSerialization(plan).to_string()).expect("JSON");
    let (mut requires, mut required_for, mut n_instances) = (Edges::new(), Edges::new(), 0);
    let instance_name = |name: &str, node: &Json| format!("{name}@{}", node.as_str().unwrap_or("sync"));
    for (key, tasks) in shape["tasks_graph"].as_object().expect("nodes") {
        let node = if key == "null" { Json::Null } else { Json::from(key.as_str()) };
        for task in tasks.as_array().expect("tasks") {
            n_instances += 1;
            let own = instance_name(task["id"].as_str().expect("text"), &node);
            let others = |field: &str| -> Vec<String> {
                let list = task[field].as_array().cloned().unwrap_or_default();
                list.iter()
                    .map(|other| instance_name(other["name"].as_str().expect("text"), &other["node_id"]))
                    .collect()
            };
            requires.extend(others("requires").into_iter().map(|other| (other, own.clone())));
            required_for.extend(others("required_for").into_iter().map(|other| (own.clone(), other)));
            let instance =
                plan.instances().find(|instance| instance.to_string() == own).expect("an instance");
            match plan.details(instance.idx) {
                Some(details) => {
                    assert_eq!(instance.verdict.action(), InstanceAction::Run);
                    assert_eq!(
                        (&task["type"], &task["parameters"]),
                        (&json!(details.task_type), &details.parameters)
                    );
                    assert_eq!(task["fail_on_error"], json!(details.fail_on_error));
                }
                None => assert_eq!((&task["type"], task.get("parameters")), (&json!("skipped"), None)),
            }
        }
    }
    let names: Vec<String> = plan.instances().map(|instance| instance.to_string()).collect();
    let edges: Edges =
        plan.edges().map(|(from, to)| (names[from.index()].clone(), names[to.index()].clone())).collect();
    assert_eq!(n_instances, plan.n_instances(), "{name}");
    assert!(requires == edges && required_for == edges, "{name}");
}

#[test]
fn fuel_format_is_equivalent() {
    for (name, explained) in real_plans() {
        check(&name, &explained);
    }
    check("mixed", &mixed(4));
}

#[test]
fn fuel_format_is_stable() {
    let tasks = [
        shell("a \"quoted\"", json!({"required_for": ["end"], "fail_on_error": false})),
        task("end", json!({"type": "stage"})),
        task("g", json!({"type": "group", "roles": ["x"], "fault_tolerance": 1})),
    ];
    let plan =
        planned(&input(&tasks, &json!({}), &[node("3", &["x"], json!({})), node("4", &["x"], json!({}))]));
    let shape: Json = serde_json::from_str(&FuelSerialization(&plan).to_string()).expect("JSON");
    let own = json!([{
        "id": "a \"quoted\"", "type": "shell", "fail_on_error": false, "parameters": {"cmd": "true"},
        "required_for": [{"name": "end", "node_id": null}],
    }]);
    let requires = |uid: &str| json!({"name": "a \"quoted\"", "node_id": uid});
    let end = json!([{"id": "end", "type": "skipped", "requires": [requires("3"), requires("4")]}]);
    let groups = json!([{"name": "g", "node_ids": ["3", "4"], "fault_tolerance": 1}]);
    assert_eq!(
        shape,
        json!({
            "tasks_directory": {},
            "tasks_graph": {"3": own, "4": own, "null": end},
            "tasks_metadata": {"fault_tolerance_groups": groups},
        })
    );
}
