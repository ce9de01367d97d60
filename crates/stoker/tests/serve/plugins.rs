//! Plugins from their first line to their tasks on nodes: nothing but the command line, a real server, real agents.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::process::PASSWORD;
use crate::site::Site;

impl Site {
    fn stoker(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_stoker"))
            .args(arguments)
            .current_dir(self.file("."))
            .env("HOME", self.file("home"))
            .env("STOKER_SERVER", self.url())
            .env("STOKER_PASSWORD", PASSWORD)
            .env_remove("STOKER_TOKEN")
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .unwrap()
    }

    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.stoker(arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What is said when it fails.
    #[track_caller]
    fn refused(&self, arguments: &[&str], code: i32) -> String {
        let output = self.stoker(arguments);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        told
    }

    /// A plugin whose stage tasks write their names into a file.
    pub(crate) fn plugin(&self, name: &str, stages: &[&str]) {
        self.done(&["plugin", "create", name, "--package-version", "4.0.0"]);
        let folder = self.file(name);
        edit(&folder.join("metadata.yaml"), "version: liberty-8.0", "version: 1.0-10.0");
        let trace = self.file("trace").display().to_string();
        let task = |stage: &&str| {
            format!(
                "- {{role: [controller], stage: {stage}, type: shell, \
                 parameters: {{cmd: 'echo {name} {stage} >>{trace}', cwd: /, timeout: 60, retries: 0}}}}\n"
            )
        };
        fs::write(folder.join("tasks.yaml"), stages.iter().map(task).collect::<String>()).unwrap();
        fs::write(
            folder.join("deployment_tasks.yaml"),
            format!("- {{id: {name}, type: skipped, version: 2.1.0, role: [controller]}}\n"),
        )
        .unwrap();
    }
}

pub(crate) fn edit(path: &Path, from: &str, to: &str) {
    let before = fs::read_to_string(path).unwrap();
    assert!(before.contains(from), "{before}");
    fs::write(path, before.replace(from, to)).unwrap();
}

#[test]
fn plugins_are_made_installed_enabled_and_run_in_order() {
    let site = Site::new(&json!([
        {"id": "deploy", "type": "shell", "version": "2.1.0", "roles": ["controller"],
         "requires": ["pre_deployment_end"], "required_for": ["post_deployment_start"],
         "parameters": {"cmd": "true", "timeout": 60, "retries": 0}},
    ]));
    site.plugin("zeta", &["pre_deployment/100", "post_deployment/5", "pre_deployment/-1.5"]);
    site.plugin("alpha", &["pre_deployment/200", "post_deployment/5.0", "pre_deployment"]);
    assert!(site.done(&["plugin", "check", "zeta", "alpha"]).contains("alpha 1.0.0"));
    let archive = site.done(&["plugin", "build", "zeta", "--output-dir", "dist"]);
    site.done(&["plugin", "install", archive.trim_end()]);
    assert_eq!(site.done(&["plugin", "install", "alpha", "--quiet"]), "2\n");
    let told = site.refused(&["plugin", "install", "alpha"], 1);
    assert!(told.contains("plugin `alpha` 1.0.0 is there already"), "{told}");
    let listed: Value = serde_json::from_str(&site.done(&["plugin", "list", "-o", "json"])).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert!(site.done(&["plugin", "show", "zeta"]).contains("ubuntu 1.0-10.0"));
    let env = site.cluster.to_string();
    for name in ["zeta", "alpha==1.0.0"] {
        site.done(&["plugin", "enable", name, "--env", &env]);
    }
    let told = site.refused(&["plugin", "remove", "zeta", "--yes"], 1);
    assert!(told.contains("enabled for some environment"), "{told}");
    let order: Value =
        serde_json::from_str(&site.done(&["plugin", "order", "--env", &env, "-o", "json"])).unwrap();
    let place = |task: &Value| {
        format!("{} {}/{}", task["plugin"].as_str().unwrap(), task["stage"].as_str().unwrap(), task["number"])
    };
    let shown: Vec<String> = order["tasks"].as_array().unwrap().iter().map(place).collect();
    let expected = [
        "zeta pre_deployment/-1.5",
        "alpha pre_deployment/0.0",
        "zeta pre_deployment/100.0",
        "alpha pre_deployment/200.0",
        "alpha post_deployment/5.0",
        "zeta post_deployment/5.0",
    ];
    assert_eq!(shown, expected);
    let table = site.stoker(&["plugin", "order", "--env", &env]);
    assert!(String::from_utf8_lossy(&table.stderr).contains("alpha, zeta have the same number"), "{table:?}");
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "ready", "{run}");
    let trace = site.read("trace");
    let trace: Vec<&str> = trace.lines().collect();
    let expected = [
        "zeta pre_deployment/-1.5",
        "alpha pre_deployment",
        "zeta pre_deployment/100",
        "alpha pre_deployment/200",
        "alpha post_deployment/5.0",
        "zeta post_deployment/5",
    ];
    assert_eq!(trace, expected);
}

/// Stages that a plugin of the newest kind hangs its tasks into.
fn stages() -> Value {
    json!([
        {"id": "pre_deployment_end", "type": "stage", "version": "2.1.0"},
        {"id": "deploy_start", "type": "stage", "version": "2.1.0", "requires": ["pre_deployment_end"]},
        {"id": "deploy_end", "type": "stage", "version": "2.1.0", "requires": ["deploy_start"]},
        {"id": "post_deployment_end", "type": "stage", "version": "2.1.0", "requires": ["deploy_end"]},
    ])
}

/// Two further nodes with a role, whose agents are in the server.
fn add_nodes(site: &Site, role: &str) {
    let make = |number: usize| {
        let body = json!({"mac": format!("52:54:00:00:01:{number:02x}"), "status": "discover"});
        json!({"id": site.client.expect(201, "POST", "/api/v1/nodes/", Some(&body))["id"], "roles": [role]})
    };
    let nodes: Vec<Value> = (0..2).map(make).collect();
    let path = format!("/api/v1/clusters/{}/assignment", site.cluster);
    site.client.expect(200, "POST", &path, Some(&json!(nodes)));
}

#[test]
fn a_new_plugin_runs_its_own_scripts_on_its_nodes() {
    let site = Site::with(&stages(), &["--local-agents"]);
    site.done(&["plugin", "create", "gridnet"]);
    edit(&site.file("gridnet/metadata.yaml"), "version: mitaka-9.0", "version: 1.0-10.0");
    let script = site.file("gridnet/deployment_scripts/deploy.sh");
    let trace = site.file("trace").display().to_string();
    edit(&script, "echo \"gridnet: $*\"", &format!("echo \"gridnet $(cat inner/word) $*\" >>{trace}"));
    fs::create_dir(site.file("gridnet/deployment_scripts/inner")).unwrap();
    fs::write(site.file("gridnet/deployment_scripts/inner/word"), "one").unwrap();
    site.done(&["plugin", "check", "gridnet"]);
    let archive = site.done(&["plugin", "build", "gridnet", "--output-dir", "dist"]);
    site.done(&["plugin", "install", archive.trim_end()]);
    let env = site.cluster.to_string();
    site.done(&["plugin", "enable", "gridnet", "--env", &env]);
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "ready", "{run}");
    assert!(!site.file("node/plugins").exists(), "no node has its role");

    add_nodes(&site, "gridnet");
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "ready", "{run} {:?}", site.history(run["id"].as_i64().unwrap()));
    let twice =
        |word: &str| format!("gridnet {word} \n").repeat(2) + &format!("gridnet {word} --verify\n").repeat(2);
    assert_eq!(site.read("trace"), twice("one"));

    // What takes its place is brought there too.
    edit(&site.file("gridnet/metadata.yaml"), "\nversion: '1.0.0'", "\nversion: '1.0.1'");
    fs::write(site.file("gridnet/deployment_scripts/inner/word"), "two").unwrap();
    site.done(&["plugin", "install", "gridnet"]);
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    assert_eq!(site.read("trace"), twice("one") + &twice("two"));
    assert_eq!(site.read("node/plugins/gridnet-1.0.0/inner/word"), "one");
    assert_eq!(site.read("node/plugins/gridnet-1.0.1/inner/word"), "two");
}

#[test]
fn scripts_that_cannot_be_brought_to_nodes_say_why() {
    let site = Site::with(&stages(), &["--local-agents"]);
    site.done(&["plugin", "create", "gridnet"]);
    edit(&site.file("gridnet/metadata.yaml"), "version: mitaka-9.0", "version: 1.0-10.0");
    site.done(&["plugin", "install", "gridnet"]);
    site.done(&["plugin", "enable", "gridnet", "--env", &site.cluster.to_string()]);
    add_nodes(&site, "gridnet");
    let failed = || {
        let run = site.deploy(&json!({}));
        // The group of the role tolerates that all its nodes fail.
        assert_eq!(run["message"], "2 nodes failed, which their groups tolerate", "{run}");
        let history = site.history(run["id"].as_i64().unwrap());
        let is_it = |row: &&Value| row["task_name"] == "gridnet-scripts" && row["status"] == "error";
        history.iter().find(is_it).unwrap_or_else(|| panic!("{history:?}")).to_string()
    };
    fs::write(site.file("node"), "in the way").unwrap();
    let told = failed();
    assert!(told.contains("cannot create the folder") && told.contains("node/plugins"), "{told}");
    fs::remove_file(site.file("node")).unwrap();
    let scripts = site.file("data/plugins/gridnet-1.0/deployment_scripts");
    fs::File::create(scripts.join("large")).unwrap().set_len(9 << 20).unwrap();
    let told = failed();
    assert!(told.contains("deployment_scripts/large") && told.contains("8388608 bytes may travel"), "{told}");
    assert!(!site.file("node").exists());
}

#[test]
fn a_plugin_is_replaced_read_again_and_removed() {
    let site = Site::new(&json!([]));
    site.plugin("gridnet", &[]);
    fs::remove_file(site.file("gridnet/tasks.yaml")).unwrap();
    assert_eq!(site.done(&["plugin", "install", "gridnet", "-q"]), "1\n");
    edit(&site.file("gridnet/metadata.yaml"), "\nversion: '1.0.0'", "\nversion: '1.0.7'");
    assert_eq!(site.done(&["plugin", "install", "gridnet", "-q"]), "1\n");
    let installed = site.file("data/plugins/gridnet-1.0/metadata.yaml");
    edit(&installed, "title: gridnet", "title: Grid");
    site.done(&["plugin", "sync", "gridnet==1.0.7"]);
    assert!(site.done(&["plugin", "list"]).contains("Grid"));
    fs::write(&installed, "name: {").unwrap();
    let told = site.refused(&["plugin", "sync"], 1);
    assert!(told.contains("gridnet-1.0/metadata.yaml"), "{told}");
    assert!(site.refused(&["plugin", "show", "nobody"], 1).contains("there is no plugin `nobody`"));
    assert!(site.refused(&["plugin", "show", "77"], 1).contains("not found"));
    edit(&site.file("gridnet/metadata.yaml"), "is_hotpluggable: false", "is_hotpluggable: maybe");
    let told = site.refused(&["plugin", "install", "gridnet"], 1);
    assert!(told.contains("error[field-type]") && told.contains("metadata.yaml:"), "{told}");
    fs::write(site.file("bad.fp"), "PK\x03\x04").unwrap();
    assert!(site.refused(&["plugin", "install", "bad.fp"], 1).contains("a zip archive"));
    site.refused(&["plugin", "install", "nowhere.fp"], 3);
    site.done(&["plugin", "remove", "gridnet", "--yes"]);
    assert!(!site.file("data/plugins/gridnet-1.0").exists());
}
