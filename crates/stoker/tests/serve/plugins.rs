//! Plugins from creation to their tasks on nodes, with the command line, a real server and real agents.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::process::PASSWORD;
use crate::site::Site;
use crate::transcript::Transcript;

impl Site {
    pub(crate) fn stoker(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_stoker"))
            .args(arguments)
            .current_dir(self.file("."))
            .env("HOME", self.file("home"))
            .env("COLUMNS", "100")
            .env("STOKER_SERVER", self.url())
            .env("STOKER_PASSWORD", PASSWORD)
            .env_remove("STOKER_TOKEN")
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .unwrap()
    }

    #[track_caller]
    pub(crate) fn run_ok(&self, arguments: &[&str]) -> String {
        let output = self.stoker(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn transcript(&self) -> Transcript {
        let mut transcript = Transcript::default();
        transcript.replace(self.file("").to_str().unwrap(), "FOLDER/");
        transcript
    }

    /// Runs a command line, split at whitespace, and appends it to a transcript.
    fn show(&self, transcript: &mut Transcript, line: &str) {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        transcript.record(&arguments, "", &self.stoker(&arguments));
    }

    /// Creates a plugin whose stage tasks append their names to a file.
    pub(crate) fn create_plugin(&self, name: &str, stages: &[&str]) {
        self.run_ok(&["plugin", "create", name, "--package-version", "4.0.0"]);
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
    let content = fs::read_to_string(path).unwrap();
    assert!(content.contains(from), "{content}");
    fs::write(path, content.replace(from, to)).unwrap();
}

#[test]
fn plugins_are_created_installed_enabled_and_run_in_order() {
    let site = Site::new(&json!([
        {"id": "deploy", "type": "shell", "version": "2.1.0", "roles": ["controller"],
         "requires": ["pre_deployment_end"], "required_for": ["post_deployment_start"],
         "parameters": {"cmd": "true", "timeout": 60, "retries": 0}},
    ]));
    site.create_plugin("zeta", &["pre_deployment/100", "post_deployment/5", "pre_deployment/-1.5"]);
    site.create_plugin("alpha", &["pre_deployment/200", "post_deployment/5.0", "pre_deployment"]);
    let mut transcript = site.transcript();
    site.show(&mut transcript, "plugin check zeta alpha");
    site.show(&mut transcript, "plugin build zeta --output-dir dist");
    site.show(&mut transcript, "plugin install dist/zeta-1.0.0.fp");
    site.show(&mut transcript, "plugin install alpha --quiet");
    site.show(&mut transcript, "plugin install alpha");
    site.show(&mut transcript, "plugin list");
    site.show(&mut transcript, "plugin show zeta");
    let env = site.cluster.to_string();
    site.show(&mut transcript, &format!("plugin enable zeta --env {env}"));
    site.show(&mut transcript, &format!("plugin enable alpha==1.0.0 --env {env}"));
    site.show(&mut transcript, "plugin remove zeta --yes");
    site.show(&mut transcript, &format!("plugin order --env {env}"));
    insta::assert_snapshot!("plugin", transcript.take());
    let order: Value =
        serde_json::from_str(&site.run_ok(&["plugin", "order", "--env", &env, "-o", "json"])).unwrap();
    let position = |task: &Value| {
        format!("{} {}/{}", task["plugin"].as_str().unwrap(), task["stage"].as_str().unwrap(), task["number"])
    };
    let positions: Vec<String> = order["tasks"].as_array().unwrap().iter().map(position).collect();
    let expected = [
        "zeta pre_deployment/-1.5",
        "alpha pre_deployment/0.0",
        "zeta pre_deployment/100.0",
        "alpha pre_deployment/200.0",
        "alpha post_deployment/5.0",
        "zeta post_deployment/5.0",
    ];
    assert_eq!(positions, expected);
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

/// Stages that plugins attach their tasks to.
fn stages() -> Value {
    json!([
        {"id": "pre_deployment_end", "type": "stage", "version": "2.1.0"},
        {"id": "deploy_start", "type": "stage", "version": "2.1.0", "requires": ["pre_deployment_end"]},
        {"id": "deploy_end", "type": "stage", "version": "2.1.0", "requires": ["deploy_start"]},
        {"id": "post_deployment_end", "type": "stage", "version": "2.1.0", "requires": ["deploy_end"]},
    ])
}

/// Adds two nodes with this role, which use in-process agents.
fn add_nodes(site: &Site, role: &str) {
    let create = |number: usize| {
        let body = json!({"mac": format!("52:54:00:00:01:{number:02x}"), "status": "discover"});
        json!({"id": site.client.expect(201, "POST", "/api/v1/nodes/", Some(&body))["id"], "roles": [role]})
    };
    let nodes: Vec<Value> = (0..2).map(create).collect();
    let path = format!("/api/v1/clusters/{}/assignment", site.cluster);
    site.client.expect(200, "POST", &path, Some(&json!(nodes)));
}

#[test]
fn plugin_scripts_run_on_its_nodes() {
    let site = Site::with(&stages(), &["--local-agents"]);
    site.run_ok(&["plugin", "create", "gridnet"]);
    edit(&site.file("gridnet/metadata.yaml"), "version: mitaka-9.0", "version: 1.0-10.0");
    let script = site.file("gridnet/deployment_scripts/deploy.sh");
    let trace = site.file("trace").display().to_string();
    edit(&script, "echo \"gridnet: $*\"", &format!("echo \"gridnet $(cat inner/word) $*\" >>{trace}"));
    fs::create_dir(site.file("gridnet/deployment_scripts/inner")).unwrap();
    fs::write(site.file("gridnet/deployment_scripts/inner/word"), "one").unwrap();
    site.run_ok(&["plugin", "check", "gridnet"]);
    let archive = site.run_ok(&["plugin", "build", "gridnet", "--output-dir", "dist"]);
    site.run_ok(&["plugin", "install", archive.trim_end()]);
    let env = site.cluster.to_string();
    site.run_ok(&["plugin", "enable", "gridnet", "--env", &env]);
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "ready", "{run}");
    assert!(!site.file("node/plugins").exists(), "no node has the role of the plugin");

    add_nodes(&site, "gridnet");
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "ready", "{run} {:?}", site.history(run["id"].as_i64().unwrap()));
    let expected_trace =
        |word: &str| format!("gridnet {word} \n").repeat(2) + &format!("gridnet {word} --verify\n").repeat(2);
    assert_eq!(site.read("trace"), expected_trace("one"));

    // A replacement is copied to the nodes too.
    edit(&site.file("gridnet/metadata.yaml"), "\nversion: '1.0.0'", "\nversion: '1.0.1'");
    fs::write(site.file("gridnet/deployment_scripts/inner/word"), "two").unwrap();
    site.run_ok(&["plugin", "install", "gridnet"]);
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    assert_eq!(site.read("trace"), expected_trace("one") + &expected_trace("two"));
    assert_eq!(site.read("node/plugins/gridnet-1.0.0/inner/word"), "one");
    assert_eq!(site.read("node/plugins/gridnet-1.0.1/inner/word"), "two");
}

#[test]
fn commands_of_a_plugin_without_scripts_run() {
    let site = Site::with(&stages(), &["--local-agents"]);
    let trace = site.file("trace").display().to_string();
    let body = json!({
        "name": "bare", "title": "Bare", "version": "1.0.0", "package_version": "4.0.0", "fuel_version": ["10.0"],
        "releases": [{"os": "ubuntu", "version": "1.0-10.0", "mode": ["ha"],
                      "deployment_scripts_path": "deployment_scripts/", "repository_path": "repositories/ubuntu"}],
        "deployment_tasks": [{"id": "bare", "type": "shell", "role": "master",
                              "parameters": {"cmd": format!("pwd >>{trace}"), "timeout": 60}}],
    });
    site.client.expect(201, "POST", "/api/v1/plugins", Some(&body));
    site.run_ok(&["plugin", "enable", "bare", "--env", &site.cluster.to_string()]);
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "ready", "{run} {:?}", site.history(run["id"].as_i64().unwrap()));
    assert_eq!(site.read("trace"), "/\n");
}

#[test]
fn failed_copy_of_scripts_is_reported() {
    let site = Site::with(&stages(), &["--local-agents"]);
    site.run_ok(&["plugin", "create", "gridnet"]);
    edit(&site.file("gridnet/metadata.yaml"), "version: mitaka-9.0", "version: 1.0-10.0");
    site.run_ok(&["plugin", "install", "gridnet"]);
    site.run_ok(&["plugin", "enable", "gridnet", "--env", &site.cluster.to_string()]);
    add_nodes(&site, "gridnet");
    let failed_record = || {
        let run = site.deploy(&json!({}));
        // The group of the role tolerates the failure of all its nodes.
        assert_eq!(run["message"], "2 nodes failed, which their groups tolerate", "{run}");
        let history = site.history(run["id"].as_i64().unwrap());
        let is_failed_scripts_task =
            |row: &&Value| row["task_name"] == "gridnet-scripts" && row["status"] == "error";
        history.iter().find(is_failed_scripts_task).unwrap_or_else(|| panic!("{history:?}")).to_string()
    };
    fs::write(site.file("node"), "in the way").unwrap();
    let stderr = failed_record();
    assert!(stderr.contains("cannot create the directory") && stderr.contains("node/plugins"), "{stderr}");
    fs::remove_file(site.file("node")).unwrap();
    let scripts = site.file("data/plugins/gridnet-1.0/deployment_scripts");
    fs::File::create(scripts.join("large")).unwrap().set_len(9 << 20).unwrap();
    let stderr = failed_record();
    assert!(
        stderr.contains("deployment_scripts/large")
            && stderr.contains("of 8388608 bytes that a task can carry"),
        "{stderr}"
    );
    assert!(!site.file("node").exists());
}

#[test]
fn plugin_is_replaced_reloaded_and_removed() {
    let site = Site::new(&json!([]));
    site.create_plugin("gridnet", &[]);
    fs::remove_file(site.file("gridnet/tasks.yaml")).unwrap();
    let mut transcript = site.transcript();
    site.show(&mut transcript, "plugin install gridnet -q");
    edit(&site.file("gridnet/metadata.yaml"), "\nversion: '1.0.0'", "\nversion: '1.0.7'");
    site.show(&mut transcript, "plugin install gridnet -q");
    let installed = site.file("data/plugins/gridnet-1.0/metadata.yaml");
    edit(&installed, "title: gridnet", "title: Grid");
    site.show(&mut transcript, "plugin sync gridnet==1.0.7");
    site.show(&mut transcript, "plugin list");
    fs::write(&installed, "name: {").unwrap();
    site.show(&mut transcript, "plugin sync");
    site.show(&mut transcript, "plugin show nobody");
    site.show(&mut transcript, "plugin show 77");
    edit(&site.file("gridnet/metadata.yaml"), "is_hotpluggable: false", "is_hotpluggable: maybe");
    site.show(&mut transcript, "plugin install gridnet");
    fs::write(site.file("bad.fp"), "PK\x03\x04").unwrap();
    site.show(&mut transcript, "plugin install bad.fp");
    site.show(&mut transcript, "plugin install nowhere.fp");
    site.show(&mut transcript, "plugin remove gridnet --yes");
    insta::assert_snapshot!("plugin-sync", transcript.take());
    assert!(!site.file("data/plugins/gridnet-1.0").exists());
}
