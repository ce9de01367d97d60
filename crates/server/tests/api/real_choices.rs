//! Real releases and plugins from the shared data, which may be absent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use axum::body::Body;
use serde_json::{Value, json};
use stoker_model::NewPlugin;
use stoker_registry::package::{PackageCheckOptions, PackageTree, check};
use stoker_testkit::real_data;

use crate::fixtures::{begin_write, commit};
use crate::support::TestServer;

fn data_folder(name: &str) -> Option<PathBuf> {
    Some(real_data(&format!("{name}/README.md"))?.parent().unwrap().to_owned())
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml")
}

/// Returns the valid community plugins. `nsx-t` is excluded because another plugin provides the same
/// component.
fn community_plugins(root: &Path) -> Vec<NewPlugin> {
    plugins_in(&root.join("community")).into_iter().filter(|plugin| plugin.name != "nsx-t").collect()
}

fn plugins_in(folder: &Path) -> Vec<NewPlugin> {
    let folders = files_in(folder);
    let folders = folders.iter().filter(|folder| folder.join("metadata.yaml").is_file());
    let tree = |folder: &PathBuf| {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        let yaml = files_in(folder).into_iter().filter(|path| is_yaml(path));
        let texts: BTreeMap<String, String> =
            yaml.map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect();
        let lines = texts["metadata.yaml"].lines().filter_map(|line| line.split_once("_path:"));
        let paths = lines.map(|(_, path)| path.trim().trim_matches(['\'', '"']).to_owned()).collect();
        PackageTree { texts, paths }
    };
    // One real file has a duplicate key, which strict checks refuse.
    let options = PackageCheckOptions { strict_keys: false };
    folders.filter_map(|folder| check(&tree(folder), options).package).map(|package| package.plugin).collect()
}

async fn create_release(server: &TestServer, path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let request = server.request("POST", "releases").header("content-type", "application/x-yaml");
    let created = server.send(request.body(Body::from(text)).unwrap()).await.expect(201);
    let path = format!("releases/{}", created["id"]);
    server.put(&path, &json!({"state": "available"})).await.expect(200)
}

#[tokio::test]
async fn clusters_are_created_from_real_release_defaults() {
    let (Some(releases), Some(root)) = (data_folder("releases"), data_folder("plugins")) else { return };
    let server = TestServer::new().await;
    let plugins = community_plugins(&root);
    assert!(plugins.len() > 15, "{}", plugins.len());
    let mut transaction = begin_write(&server).await;
    for plugin in &plugins {
        // The data contains several revisions of some plugins; duplicates are refused.
        _ = transaction.plugin_create(plugin).await;
    }
    commit(transaction).await;
    for path in files_in(&releases).iter().filter(|path| is_yaml(path)) {
        let release = create_release(&server, path).await;
        let name = &release["version"];
        let base = format!("releases/{}", release["id"]);
        let listed = server.get(&format!("{base}/components")).await.expect(200);
        let components: Vec<&Value> = listed
            .as_array()
            .unwrap()
            .iter()
            .filter(|component| component["default"] == true)
            .map(|component| &component["name"])
            .collect();
        let response = server
            .post(&format!("{base}/components/check"), &json!({"components": components}))
            .await
            .expect(200);
        assert_eq!(response["compatible"], true, "{name}: {}", response["conflicts"]);
        server.get(&format!("{base}/compatibility")).await.expect(200);
        server.get(&format!("{base}/wizard")).await.expect(200);
        server.post(&format!("{base}/wizard/evaluate"), &json!({})).await.expect(200);
        let body =
            json!({"name": format!("of {base}"), "release_id": release["id"], "components": components});
        let cluster = server.post("clusters", &body).await.expect(201);
        let restrictions =
            server.get(&format!("clusters/{}/attributes/restrictions", cluster["id"])).await.expect(200);
        for restriction in restrictions.as_array().unwrap() {
            assert_eq!(restriction["errors"], json!([]), "{name}: {}", restriction["path"]);
        }
    }
}

/// Selectable value of a control.
struct Choice {
    pane: String,
    control: String,
    value: Value,
    component: Option<String>,
}

fn controls(wizard: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    wizard.as_object().unwrap().iter().flat_map(|(pane, controls)| {
        let controls = controls.as_object().unwrap().iter().filter(|(name, _)| *name != "metadata");
        controls.map(move |(name, control)| (pane, name, control))
    })
}

fn choices(wizard: &Value) -> Vec<Choice> {
    let mut choices = Vec::new();
    for (pane, control, body) in controls(wizard) {
        let mut add = |value: &Value, body: &Value| {
            let component = body["component"].as_str().map(str::to_owned);
            choices.push(Choice {
                pane: pane.clone(),
                control: control.clone(),
                value: value.clone(),
                component,
            });
        };
        match body["values"].as_array() {
            Some(options) => options.iter().for_each(|option| add(&option["data"], option)),
            None if body["type"] == "checkbox" => add(&json!(true), body),
            None => {}
        }
    }
    choices
}

fn set(answers: &mut Value, choice: &Choice, is_on: bool) {
    let off = if choice.value == true { json!(false) } else { json!("none") };
    answers[&choice.pane][&choice.control] = if is_on { choice.value.clone() } else { off };
}

async fn evaluate(server: &TestServer, base: &str, answers: &Value) -> Value {
    server.post(&format!("{base}/wizard/evaluate"), &json!({"answers": answers})).await.expect(200)
}

/// Returns the state of a choice in an evaluation.
fn state_of<'e>(evaluation: &'e Value, choice: &Choice) -> (&'e Value, &'e Value) {
    let controls = evaluation["controls"].as_array().unwrap();
    let is_own =
        |state: &&Value| state["pane"] == choice.pane.as_str() && state["control"] == choice.control.as_str();
    let control = controls.iter().find(is_own).unwrap();
    let option = control["options"]
        .as_array()
        .unwrap()
        .iter()
        .find(|option| option["data"] == choice.value)
        .unwrap_or(control);
    (control, option)
}

/// Requires a message with labels instead of component names and translation keys.
fn require_readable(message: &str) {
    for raw in ["dialog.", "hypervisor:", "network:", "storage:", "monitoring:", "additional_service:"] {
        assert!(!message.contains(raw), "{message}");
    }
}

fn id_of(base: &str) -> i64 {
    base.rsplit('/').next().unwrap().parse().unwrap()
}

/// Answers that select a component, found as a user does: unselect what it conflicts with, and select what it
/// requires. `Err` has the reasons why it cannot be selected.
async fn answers_with(
    server: &TestServer,
    base: &str,
    all: &[Choice],
    wanted: &Choice,
) -> Result<Value, Vec<String>> {
    let mut answers = evaluate(server, base, &json!({})).await["answers"].clone();
    set(&mut answers, wanted, true);
    for _ in 0..8 {
        let evaluation = evaluate(server, base, &answers).await;
        let is_selected = evaluation["components"]
            .as_array()
            .unwrap()
            .iter()
            .any(|name| Some(name.as_str().unwrap()) == wanted.component.as_deref());
        if is_selected && evaluation["compatible"] == true {
            return Ok(evaluation["answers"].clone());
        }
        let mut selected: Vec<Value> = evaluation["components"].as_array().unwrap().clone();
        selected.push(json!(wanted.component));
        let check = server
            .post(&format!("{base}/components/check"), &json!({"components": selected}))
            .await
            .expect(200);
        for conflict in check["conflicts"].as_array().unwrap() {
            require_readable(conflict["message"].as_str().unwrap());
            let find = |name: &Value| all.iter().find(|choice| choice.component.as_deref() == name.as_str());
            for name in conflict["components"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|name| name.as_str() != wanted.component.as_deref())
            {
                set(&mut answers, find(name).unwrap(), false);
            }
            let mut items = conflict["items"].as_array().into_iter().flatten();
            if let Some(partner) = items.find_map(find) {
                set(&mut answers, partner, true);
            }
        }
    }
    let evaluation = evaluate(server, base, &answers).await;
    let texts = |value: &Value| {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (control, option) = state_of(&evaluation, wanted);
    let mut reasons: Vec<String> = texts(&control["messages"]);
    reasons.extend(texts(&option["messages"]));
    reasons.extend(
        evaluation["conflicts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|conflict| conflict["message"].as_str().unwrap().to_owned()),
    );
    reasons.sort();
    reasons.dedup();
    for reason in &reasons {
        require_readable(reason);
    }
    if evaluation["problems"] == json!([]) && evaluation["compatible"] == false {
        let body = json!({"name": "refused", "release_id": id_of(base), "wizard": evaluation["answers"]});
        let refused = server.post("clusters", &body).await.expect(400);
        assert_eq!(refused["conflicts"], evaluation["conflicts"], "{base}");
    }
    Err(reasons)
}

/// Creates a cluster from answers and checks that it has what the evaluation announced.
async fn create_from(server: &TestServer, release: &Value, answers: &Value) -> Value {
    let base = format!("releases/{}", release["id"]);
    let evaluation = evaluate(server, &base, answers).await;
    assert_eq!(evaluation["problems"], json!([]), "{base}");
    assert_eq!(evaluation["compatible"], true, "{base}: {}", evaluation["conflicts"]);
    let body = json!({"name": "walk", "release_id": release["id"], "wizard": answers});
    let cluster = server.post("clusters", &body).await.expect(201);
    assert_eq!(cluster["components"], evaluation["components"], "{base}");
    let path = format!("clusters/{}", cluster["id"]);
    let settings = server.get(&format!("{path}/attributes")).await.expect(200)["editable"].clone();
    for (name, section) in settings.as_object().unwrap() {
        if section["metadata"]["class"] == "plugin" {
            let is_enabled = evaluation["plugins"].as_array().unwrap().contains(&json!(name));
            assert_eq!(section["metadata"]["enabled"], is_enabled, "{base}: {name}");
            assert_eq!(section["value"], is_enabled, "{base}: {name}");
        }
    }
    let _ = server.delete(&path).await;
    json!({"cluster": cluster, "settings": settings})
}

/// Every choice of every wizard is possible, or disabled with a readable reason; clusters have what was chosen.
#[tokio::test]
async fn wizards_of_all_real_releases_are_walked() {
    let (Some(releases), Some(root)) = (data_folder("releases"), data_folder("plugins")) else { return };
    let server = TestServer::new().await;
    let mut created = Vec::new();
    for path in files_in(&releases).iter().filter(|path| is_yaml(path)) {
        created.push(create_release(&server, path).await);
    }
    assert_eq!(created.len(), 15);
    for release in &created {
        let base = format!("releases/{}", release["id"]);
        let wizard = server.get(&format!("{base}/wizard")).await.expect(200);
        let text = wizard.to_string();
        assert!(!text.contains("dialog.create") && !text.contains("common.network"), "{base}: {text}");
        create_from(&server, release, &json!({})).await;
        let all = choices(&wizard);
        assert!(all.len() >= 9, "{base}: {}", all.len());
        for choice in &all {
            let mut answers = json!({});
            set(&mut answers, choice, true);
            let evaluation = evaluate(&server, &base, &answers).await;
            let (control, option) = state_of(&evaluation, choice);
            if option["disabled"] == true || control["disabled"] == true {
                let messages =
                    if option["disabled"] == true { &option["messages"] } else { &control["messages"] };
                assert!(messages.as_array().is_some_and(|messages| !messages.is_empty()), "{base}: {option}");
                messages
                    .as_array()
                    .into_iter()
                    .flatten()
                    .for_each(|text| require_readable(text.as_str().unwrap()));
            } else {
                assert_eq!(control["value"], choice.value, "{base} {}.{}", choice.pane, choice.control);
            }
        }
    }
    let plugins: Vec<NewPlugin> = ["examples", "templates", "community"]
        .iter()
        .flat_map(|group| plugins_in(&root.join(group)))
        .collect();
    assert_eq!(plugins.len(), 32);
    let (mut n_chosen, mut impossible) = (0, std::collections::BTreeSet::new());
    for plugin in &plugins {
        let mut transaction = begin_write(&server).await;
        let stored = transaction.plugin_create(plugin).await.unwrap();
        commit(transaction).await;
        for release in &created {
            let base = format!("releases/{}", release["id"]);
            let wizard = server.get(&format!("{base}/wizard")).await.expect(200);
            let all = choices(&wizard);
            let own: Vec<&str> = plugin
                .components_metadata
                .iter()
                .filter_map(|component| component["name"].as_str())
                .collect();
            for choice in all
                .iter()
                .filter(|choice| choice.component.as_deref().is_some_and(|name| own.contains(&name)))
            {
                match answers_with(&server, &base, &all, choice).await {
                    Ok(answers) => {
                        let result = create_from(&server, release, &answers).await;
                        assert_eq!(
                            result["settings"][&plugin.name]["metadata"]["enabled"], true,
                            "{base}: {}",
                            plugin.name
                        );
                        n_chosen += 1;
                    }
                    Err(reasons) => {
                        assert!(!reasons.is_empty(), "{base}: {}", plugin.name);
                        let component = choice.component.as_deref().unwrap();
                        impossible.insert(format!("{component}: {}", reasons.join("; ")));
                    }
                }
            }
        }
        server.delete(&format!("plugins/{}", stored.id)).await.expect(204);
    }
    // The two examples require a hypervisor that does not exist.
    let is_explained = |text: &String| {
        let (component, reasons) = text.split_once(": ").unwrap();
        component.starts_with("additional_service:service_plugin_v")
            && reasons.contains("requires XXX compute")
    };
    assert!(impossible.iter().all(is_explained), "{impossible:#?}");
    assert!(n_chosen >= 30, "{n_chosen}");
}
