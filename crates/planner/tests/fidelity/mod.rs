//! Plans of an invented release match those of an independent planner; see README.md in this folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Map, Value as Json, json};
use stoker_manifest::Format;
use stoker_manifest::graph::read_tasks;
use stoker_model::Task;
use stoker_planner::{Explainer, Plan, PlanScope, PlanningInput, PlanningReport, plan};
use stoker_state::{AppliedStates, EffectiveState, master_document};
use stoker_yaql::json::{WriteOptions, parse, write};

use crate::real::yaml;
use crate::small::{document, node, state};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fidelity")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("`{}`: {error}", path.display()))
}

fn load(name: &str) -> Json {
    let text = write(&yaml(&read(name)), &WriteOptions::default()).expect("plain data");
    serde_json::from_str(&text).expect("JSON")
}

fn graph() -> Vec<Task> {
    read_tasks(&read("graph.yaml"), Format::Yaml).into_result().expect("a valid graph")
}

/// A cluster: the common document, and the own document of each node by uid.
struct Cluster {
    common: Json,
    nodes: Json,
    own: BTreeMap<String, Json>,
}

impl Cluster {
    fn load(name: &str) -> Self {
        let file = load(&format!("clusters/{name}.yaml"));
        let own = file["nodes"].as_array().expect("nodes").iter();
        let own = own.map(|node| (text(&node["uid"]).to_owned(), node["document"].clone())).collect();
        Self { common: file["common"].clone(), nodes: file["nodes"].clone(), own }
    }

    /// The cluster before some changes.
    fn before(&self, changes: &Json) -> Self {
        let mut before =
            Self { common: self.common.clone(), nodes: self.nodes.clone(), own: self.own.clone() };
        for change in items(changes) {
            let mut keys: Vec<&str> = text(&change["path"]).split('.').collect();
            let mut target = match keys.remove(0) {
                "common" => &mut before.common,
                _ => before.own.get_mut(keys.remove(0)).expect("a node"),
            };
            let last = keys.pop().expect("a key");
            for key in keys {
                target = &mut target[key];
            }
            match (change["absent"] == true, target.as_object_mut().expect("a map")) {
                (true, map) => _ = map.remove(last),
                (false, map) => _ = map.insert(last.to_owned(), change["value"].clone()),
            }
        }
        before
    }

    fn old_states(&self, tasks: &[Task], past: &Json) -> AppliedStates {
        let before = self.before(&past["changes"]);
        let mut old = AppliedStates::default();
        let new_nodes: Vec<&str> = items(&past["new_nodes"]).iter().map(text).collect();
        for (uid, own) in before.own.iter().filter(|(uid, _)| !new_nodes.contains(&uid.as_str())) {
            old.set_node(uid, state(&before.common, own), None);
        }
        let master = EffectiveState { common: document(&before.common), node: master_document() };
        old.set_node("master", master, None);
        for exception in items(&past["tasks"]) {
            let (task, uid) = (text(&exception["task"]), text(&exception["node"]));
            assert!(tasks.iter().any(|known| known.name == task), "no task `{task}`");
            let now = (exception["past"] == "now").then(|| state(&self.common, &self.own[uid]));
            old.set_tasks([task], uid, now.map(|now| (now, None)));
        }
        old
    }
}

fn items(list: &Json) -> &[Json] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not text"))
}

fn texts(list: &Json) -> Option<Vec<String>> {
    list.is_array().then(|| items(list).iter().map(|item| text(item).to_owned()).collect())
}

/// Computes the plan of a case and renders it like `oracle.py`.
fn planned(tasks: &[Task], case: &Json) -> Result<String, PlanningReport> {
    let cluster = Cluster::load(text(&case["cluster"]));
    let nodes = items(&cluster.nodes).iter().map(|record| {
        let tags: Vec<&str> = items(&record["tags"]).iter().map(text).collect();
        let mut node = node(text(&record["uid"]), &tags, record["document"].clone());
        node.record = record.get("record").map(|record| parse(&record.to_string()).expect("JSON"));
        node
    });
    let old = case.get("past").map(|past| cluster.old_states(tasks, past));
    let request = PlanScope {
        nodes: texts(&case["request"]["nodes"]),
        tasks: texts(&case["request"]["tasks"]),
        force: case["request"]["force"] == true,
        ..PlanScope::default()
    };
    let placeholders = [("CLUSTER_ID", "12"), ("MASTER_IP", "10.0.0.1")];
    let input = PlanningInput {
        node_filter: case["node_filter"].as_str(),
        old: old.as_ref(),
        request,
        placeholders: placeholders.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..PlanningInput::new(tasks, document(&cluster.common), nodes.collect())
    };
    let (plan, _) = plan(&input)?;
    let options = Explainer::options(&input);
    Ok(rendered(&plan, &Explainer::new(&input, &plan, &options)))
}

fn rendered(plan: &Plan, explainer: &Explainer<'_>) -> String {
    let names: Vec<String> = plan.instances().map(|instance| instance.to_string()).collect();
    let mut before: Vec<Vec<(&str, &str)>> = vec![Vec::new(); names.len()];
    let instances: Vec<_> = plan.instances().collect();
    for (from, to) in plan.edges() {
        let first = &instances[from.index()];
        before[to.index()].push((first.task, first.node));
    }
    let mut sorted: Vec<usize> = (0..names.len()).collect();
    sorted.sort_by_key(|idx| (instances[*idx].task, instances[*idx].node));
    let mut lines = String::new();
    for idx in sorted {
        let instance = &instances[idx];
        let verdict = serde_json::to_value(instance.verdict).expect("a name");
        _ = write!(lines, "{} {}", names[idx], text(&verdict));
        for part in explainer.explain(instance).decided_by {
            _ = write!(lines, " | {}", part.split_whitespace().collect::<String>());
        }
        lines.push('\n');
        if let Some(details) = plan.details(instance.idx) {
            let may_fail = if details.fail_on_error { "" } else { " may fail" };
            _ = writeln!(lines, "  {} {}{may_fail}", details.task_type, sorted_keys(&details.parameters));
        }
        before[idx].sort_unstable();
        for (task, node) in &before[idx] {
            _ = writeln!(lines, "  after {task}@{node}");
        }
    }
    let mut groups: Vec<String> = plan
        .groups
        .iter()
        .map(|group| {
            format!("group {} of {} tolerates {}\n", group.name, group.nodes.join(" "), group.max_failed)
        })
        .collect();
    groups.sort();
    let choices = plan.choices.iter();
    let mut choices: Vec<String> = choices
        .map(|choice| format!("choice {}: {} on {}\n", choice.task, choice.name, choice.node))
        .collect();
    choices.sort();
    lines + &groups.concat() + &choices.concat()
}

/// The same data with the keys of all maps sorted.
fn sorted_keys(value: &Json) -> Json {
    match value {
        Json::Object(map) => {
            let sorted: BTreeMap<&String, Json> =
                map.iter().map(|(key, item)| (key, sorted_keys(item))).collect();
            sorted.into_iter().map(|(key, item)| (key.clone(), item)).collect::<Map<_, _>>().into()
        }
        Json::Array(items) => items.iter().map(sorted_keys).collect(),
        other => other.clone(),
    }
}

/// The first line that differs, with its instance.
fn first_difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let mut instance = "";
    let mut lines = expected.lines().chain([""]).zip(actual.lines().chain([""]));
    let (expected, actual) = lines.find(|(expected, actual)| {
        if !expected.starts_with(' ') {
            instance = expected;
        }
        expected != actual
    })?;
    Some(format!("{instance}\n    expected {expected}\n    planned  {actual}"))
}

#[test]
fn plans_match_the_recorded_ones() {
    let tasks = graph();
    assert!(tasks.len() > 60);
    let cases = load("cases.yaml");
    let mut problems = Vec::new();
    for case in items(&cases) {
        let name = text(&case["name"]);
        let plan = planned(&tasks, case).unwrap_or_else(|report| panic!("{name}: {:#?}", report.problems));
        let difference = first_difference(&read(&format!("expected/{name}.txt")), &plan);
        problems.extend(difference.map(|difference| format!("{name}: {difference}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let n_recorded = fs::read_dir(folder().join("expected")).expect("a folder").count();
    assert_eq!(n_recorded, items(&cases).len(), "every recorded plan has a case");
}

/// A comparison that no change can fail proves nothing: each task of the graph is mutated in turn, and some plan must then
/// differ from its recording.
#[test]
fn mutated_tasks_are_detected() {
    let tasks = graph();
    let cases = load("cases.yaml");
    let recorded: Vec<String> =
        items(&cases).iter().map(|case| read(&format!("expected/{}.txt", text(&case["name"])))).collect();
    // Placed on no node in any cluster, so that nothing of it is in a plan.
    let is_visible = |task: &&Task| !["tape-archive", "tape-robots"].contains(&task.name.as_str());
    let mut undetected = Vec::new();
    for task in tasks.iter().filter(is_visible) {
        for (what, mutate) in MUTATIONS {
            let mut mutated = tasks.clone();
            let target = mutated.iter_mut().find(|other| other.name == task.name).expect("the same tasks");
            if !mutate(target) {
                continue;
            }
            let mut plans = items(&cases).iter().zip(&recorded);
            if plans.all(|(case, recorded)| planned(&mutated, case).is_ok_and(|plan| plan == *recorded)) {
                undetected.push(format!("task `{}`: {what}", task.name));
            }
        }
    }
    assert!(undetected.is_empty(), "changes no plan:\n{}", undetected.join("\n"));
}

/// A name and a mutation that returns whether it applies to the task.
type Mutation = (&'static str, fn(&mut Task) -> bool);

const MUTATIONS: &[Mutation] = &[
    ("another condition", |task| {
        let is_ordinary = !["stage", "group", "skipped"].contains(&text(&task.fields["type"]));
        let condition = task.fields.get("condition");
        let opposite = match condition {
            Some(Json::Object(condition)) => {
                json!({"yaql_exp": format!("not ({})", text(&condition["yaql_exp"]))})
            }
            Some(Json::String(condition)) => format!("not ({condition})").into(),
            Some(other) => json!(other != &json!(true)),
            None => json!(false),
        };
        is_ordinary && task.fields.insert("condition".to_owned(), opposite).is_none_or(|_| true)
    }),
    ("fewer dependencies", |task| task.fields.shift_remove("requires").is_some()),
    ("another parameter", |task| {
        // Parameters of a task that never runs are in no plan.
        let can_run = task.fields.get("condition") != Some(&json!(false));
        let parameters = task.fields.get_mut("parameters").filter(|_| can_run);
        parameters
            .and_then(Json::as_object_mut)
            .is_some_and(|map| map.insert("extra".to_owned(), json!(1)).is_none())
    }),
    ("another fault tolerance", |task| {
        text(&task.fields["type"]) == "group"
            && task.fields.insert("fault_tolerance".to_owned(), json!("100%")).is_none_or(|_| true)
    }),
];

/// The recorded plans are those that the oracle computes, not edited by hand.
#[test]
#[expect(clippy::disallowed_methods, reason = "the environment names the interpreter of the oracle")]
fn recorded_plans_are_those_of_the_oracle() {
    let Some(python) = std::env::var_os("STOKER_YAQL_ORACLE_PYTHON").filter(|path| !path.is_empty()) else {
        stoker_testenv::record_missing_tool("oracle: STOKER_YAQL_ORACLE_PYTHON is not set");
        return;
    };
    let output =
        Command::new(python).args(["-I", "-B"]).arg(folder().join("oracle.py")).arg("--check").output();
    let output = output.expect("the oracle starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
