//! `stoker registry` over the real binary.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod program;

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use program::run_bytes;
use serde_json::{Value, json};
use stoker_testkit::TempFolder;

fn evaluate(arguments: &[&str], input: &[u8]) -> Vec<Value> {
    let output = run_bytes(&[&["registry", "eval", "--jsonl"], arguments].concat(), input);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn lines(cases: &[Value]) -> String {
    let lines: Vec<String> = cases.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

/// Returns one case per type, with the expected response.
fn cases() -> Vec<(Value, Value)> {
    vec![
        (
            json!({"kind": "decision", "id": 1, "components": ["hypervisor:vmware", "hypervisor:core:kvm"],
                   "plugins": [{"name": "contrail", "provides": [{"name": "networking:core", "compatible_hypervisors": ["core"]}]}],
                   "selection": ["hypervisor:vmware", "network:core:contrail"], "required_types": ["storage"]}),
            json!({"id": 1, "result": {"compatible": false, "conflicts": [
                {"kind": "incompatible", "components": ["hypervisor:vmware", "network:core:contrail"]},
                {"kind": "missing_type", "type": "storage"}]}}),
        ),
        (
            json!({"kind": "wizard_mix", "id": "mix",
                   "release_wizard": {"Network": {"manager": {"type": "radio", "values": [{"data": "vlan", "label": "VLAN"}]}}},
                   "plugin_wizards": [{"plugin": "mesh", "wizard": {"Network": {"manager": {"values": [{"data": "vlan", "label": "Better"}]}}}}]}),
            json!({"id": "mix", "error": [{"path": "Network.manager.values[vlan].label", "kind": "scalar", "plugin": "mesh"}]}),
        ),
        (
            json!({"kind": "wizard_mix", "id": null, "release_wizard": {"Network": {}},
                   "plugin_wizards": [{"plugin": "mesh", "wizard": {"Network": {"encrypt": {"type": "checkbox"}}}}]}),
            json!({"id": null, "result": {"Network": {"encrypt": {"type": "checkbox"}}}}),
        ),
        (
            json!({"kind": "stage_order", "id": [1], "plugins": [
                {"name": "plugin1", "tasks": [
                    {"stage": "pre_deployment"}, {"stage": "pre_deployment/100"},
                    {"stage": "pre_deployment/-100"}, {"stage": "pre_deployment/-99.9"}]},
                {"name": "plugin2", "tasks": [
                    {"stage": "pre_deployment"}, {"stage": "pre_deployment/100.0"},
                    {"stage": "pre_deployment/-101"}, {"stage": "pre_deployment/0"}]}]}),
            json!({"id": [1], "result": [
                ["plugin2", 2], ["plugin1", 2], ["plugin1", 3], ["plugin1", 0],
                ["plugin2", 0], ["plugin2", 3], ["plugin1", 1], ["plugin2", 1]]}),
        ),
        (
            json!({"kind": "stage_order", "id": 5, "plugins": [{"name": "b", "tasks": [{"stage": "pre_deployment/1e3"}, {}]}]}),
            json!({"id": 5, "error": [
                {"plugin": "b", "task": 0, "code": "stage_bad_postfix"}, {"plugin": "b", "task": 1, "code": "stage_missing"}]}),
        ),
        (
            json!({"kind": "restriction_gen", "id": 6,
                   "wizard": {"Compute": {"vcenter": {"type": "checkbox", "component": "hypervisor:vmware"}},
                              "Network": {"manager": {"type": "radio", "values": [
                                  {"data": "core", "component": "network:core:contrail"}, {"data": "plain"}]}}},
                   "components": [{"name": "hypervisor:vmware", "label": "vCenter"}],
                   "plugins": [{"name": "contrail", "provides": [{"name": "networking:core"}]}]}),
            json!({"id": 6, "result": {"Network.manager[core]": [{
                "condition": "wizard:Compute.vcenter == true", "action": "disable",
                "message": "network:core:contrail is not compatible with vCenter"}]}}),
        ),
    ]
}

#[test]
fn all_case_kinds_are_evaluated_from_input_and_file() {
    let (requests, expected): (Vec<Value>, Vec<Value>) = cases().into_iter().unzip();
    let text = lines(&requests);
    assert_eq!(evaluate(&[], text.as_bytes()), expected);
    assert_eq!(evaluate(&["-"], text.trim_end().as_bytes()), expected, "the last line needs no newline");
    let folder = TempFolder::new();
    fs::write(folder.file("cases.jsonl"), text.replace('\n', "\r\n\n")).unwrap();
    assert_eq!(evaluate(&[folder.file("cases.jsonl").to_str().unwrap()], b""), expected);
}

#[test]
fn invalid_lines_do_not_affect_others() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_wizard = format!(
        "{{\"kind\": \"wizard_mix\", \"id\": 1, \"release_wizard\": {}1{}}}",
        "{\"a\": ".repeat(5000),
        "}".repeat(5000)
    );
    let long = format!("{{\"kind\": \"decision\", \"id\": \"{}\"}}", "x".repeat(17 << 20));
    let invalid: Vec<Vec<u8>> = vec![
        b"{".to_vec(),
        b"nonsense".to_vec(),
        b"[]".to_vec(),
        b"5".to_vec(),
        b"\"decision\"".to_vec(),
        b"\xff\xfe".to_vec(),
        b"{\"id\": 1}".to_vec(),
        b"{\"id\": 1, \"kind\": 5}".to_vec(),
        b"{\"id\": 1, \"kind\": \"other\"}".to_vec(),
        b"{\"id\": 1, \"kind\": \"decision\", \"plugins\": [5]}".to_vec(),
        b"{\"id\": 1, \"kind\": \"decision\", \"selection\": \"x\"}".to_vec(),
        b"{\"id\": 1, \"kind\": \"stage_order\", \"plugins\": [{\"name\": \"a\", \"tasks\": {}}]}".to_vec(),
        b"{\"id\": 1, \"kind\": \"wizard_mix\", \"plugin_wizards\": [{}]}".to_vec(),
        b"{\"id\": 1, \"kind\": \"decision\"} {}".to_vec(),
        deep.into_bytes(),
        deep_wizard.into_bytes(),
        long.into_bytes(),
    ];
    let valid = b"{\"kind\": \"decision\", \"id\": \"good\"}".to_vec();
    let mut input = Vec::new();
    for line in &invalid {
        input.extend([&line[..], b"\n", &valid, b"\n"].concat());
    }
    let responses = evaluate(&[], &input);
    assert_eq!(responses.len(), 2 * invalid.len());
    for (line, pair) in invalid.iter().zip(responses.chunks(2)) {
        let excerpt = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        assert!(pair[0]["error"].as_str().is_some_and(|error| !error.is_empty()), "{excerpt}: {}", pair[0]);
        assert!(pair[0].get("id").is_some(), "{excerpt}");
        assert_eq!(pair[1], json!({"id": "good", "result": {"compatible": true, "conflicts": []}}));
    }
}

#[test]
fn invalid_usage() {
    assert_eq!(run_bytes(&["registry", "eval"], b"").status.code(), Some(2));
    assert_eq!(run_bytes(&["registry"], b"").status.code(), Some(2));
    let output = run_bytes(&["registry", "eval", "--jsonl", "nowhere.jsonl"], b"");
    assert_eq!(output.status.code(), Some(3));
    assert_snapshot!(String::from_utf8_lossy(&output.stderr));
}

const RELEASE: &str = "
name: Granite
version: granite-1.0
operating_system: Ubuntu
required_component_types: [hypervisor]
components_metadata:
- {name: 'hypervisor:core:kvm', label: KVM}
- {name: 'hypervisor:vmware', label: vCenter}
- {name: 'storage:block:lvm', label: LVM}
";

/// Creates a release and a network plugin that supports only the core hypervisors.
fn create_release_and_plugin(folder: &TempFolder) -> (String, String) {
    let path_string = |path: &Path| path.to_str().unwrap().to_owned();
    fs::write(folder.file("release.yaml"), RELEASE).unwrap();
    let plugin = path_string(&folder.file("contrail"));
    let output = run_bytes(&["plugin", "create", &plugin, "--package-version", "4.0.0"], b"");
    assert_eq!(output.status.code(), Some(0));
    let metadata = folder.file("contrail/metadata.yaml");
    let text = fs::read_to_string(&metadata).unwrap().replace("liberty-8.0", "granite-1.0");
    let provides = "provides:\n- {name: 'networking:core', label: Contrail, compatible_hypervisors: [core], compatible_storages: [all]}\n";
    fs::write(&metadata, format!("{text}{provides}")).unwrap();
    fs::remove_file(folder.file("contrail/components.yaml")).unwrap();
    (path_string(&folder.file("release.yaml")), plugin)
}

#[test]
fn matrix_as_table_json_and_html() {
    let folder = TempFolder::new();
    let (release, plugin) = create_release_and_plugin(&folder);
    let matrix = |more: &[&str]| {
        let arguments = [&["registry", "matrix", "--release", &release, "--plugin", &plugin], more].concat();
        let output = run_bytes(&arguments, b"");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let table = matrix(&[]);
    let expected = "                     1 2 3 4
1  hypervisor:core   ·
2  hypervisor:vmware   · X
3  network:core        X ·
4  storage:block           ·
";
    assert_eq!(table, expected);
    let by_subtype: Value = serde_json::from_str(&matrix(&["--output", "json"])).unwrap();
    assert_eq!(
        by_subtype["subtypes"],
        json!(["hypervisor:core", "hypervisor:vmware", "network:core", "storage:block"])
    );
    assert_eq!(by_subtype["cells"][1], json!(["", "·", "X", ""]));
    let by_component: Value =
        serde_json::from_str(&matrix(&["--by", "components", "--output", "json"])).unwrap();
    assert_eq!(
        by_component["conflicts"],
        json!([{
            "components": ["hypervisor:vmware", "network:core:contrail"],
            "reason": "vCenter is not compatible with Contrail",
        }])
    );
    let page = matrix(&["--by", "components", "--output", "html"]);
    assert!(page.starts_with("<!doctype html>"), "{page}");
    assert!(page.contains("title=\"vCenter is not compatible with Contrail\">X</td>"), "{page}");
}

#[test]
fn selection_is_checked_with_reasons() {
    let folder = TempFolder::new();
    let (release, plugin) = create_release_and_plugin(&folder);
    let check = |more: &[&str]| {
        let arguments = [&["registry", "check", "--release", &release, "--plugin", &plugin], more].concat();
        let output = run_bytes(&arguments, b"");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let contrail = "network:core:contrail";
    let (code, out, _) = check(&["--output", "text", "hypervisor:core:kvm", contrail]);
    assert_eq!((code, &*out), (0, "compatible\n"));
    let (code, _, stderr) = check(&["--mode", "ha_compact", "hypervisor:vmware", contrail]);
    assert_eq!(code, 1);
    assert_snapshot!("registry-check-incompatible", stderr);
    let (code, out, _) = check(&["-o", "json", contrail, "storage:nobody"]);
    assert_eq!(code, 1);
    let response: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        response["conflicts"][0],
        json!({"kind": "unknown", "component": "storage:nobody", "reason": "no release or plugin provides `storage:nobody`"})
    );
    assert_eq!(response["conflicts"][1]["type"], "hypervisor");
    let (code, _, stderr) = check(&["--mode", "other", contrail]);
    assert_eq!(code, 1);
    assert_snapshot!("registry-check-mode", stderr);
}
