//! `/plugins/upload/` and `/plugins/sync/`: plugin archives, installed files and records.

use std::fs;
use std::path::{Path, PathBuf};

use axum::body::Body;
use serde_json::{Value, json};
use stoker_model::PluginId;
use stoker_packages::pack;
use stoker_registry::package::{PackageVersion, SkeletonOptions, skeleton};
use stoker_settings::Server;
use stoker_testkit::TempFolder;

use crate::fixtures::{cluster_with_roles, set_plugin_enabled};
use crate::support::{Reply, TestServer};

/// A plugin source directory generated from the skeleton.
pub(crate) struct PluginSource(TempFolder);

impl PluginSource {
    pub(crate) fn new(name: &str, version: PackageVersion) -> Self {
        let source = Self(TempFolder::new());
        for file in skeleton(SkeletonOptions { name, version, has_wizard: true }).unwrap() {
            source.write(&file.path, &file.text);
        }
        source
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        self.write_bytes(file, text.as_bytes());
    }

    pub(crate) fn write_bytes(&self, file: &str, bytes: &[u8]) {
        let path = self.0.file(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn remove(&self, file: &str) {
        fs::remove_file(self.0.file(file)).unwrap();
    }

    pub(crate) fn edit(&self, file: &str, from: &str, to: &str) {
        let before = fs::read_to_string(self.0.file(file)).unwrap();
        assert!(before.contains(from), "{before}");
        self.write(file, &before.replace(from, to));
    }

    pub(crate) fn set_version(&self, version: &str) {
        let before = fs::read_to_string(self.0.file("metadata.yaml")).unwrap();
        let lines = before.lines().map(|line| {
            if line.starts_with("version:") { format!("version: '{version}'\n") } else { format!("{line}\n") }
        });
        self.write("metadata.yaml", &lines.collect::<String>());
    }

    pub(crate) fn archive(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack(self.path(), "inner", &mut bytes).unwrap();
        bytes
    }
}

pub(crate) async fn upload(server: &TestServer, archive: Vec<u8>) -> Reply {
    let request =
        server.request("POST", "plugins/upload/").header("content-type", "application/octet-stream");
    server.send(request.body(Body::from(archive)).unwrap()).await
}

async fn sync(server: &TestServer, body: &str) -> Reply {
    server.send(server.request("POST", "plugins/sync/").body(Body::from(body.to_owned())).unwrap()).await
}

pub(crate) fn plugins_root(server: &TestServer) -> PathBuf {
    server.app.settings.plugins_root.clone()
}

/// Returns the names of all entries in the plugins root, including temporary ones.
fn installed_folders(server: &TestServer) -> Vec<String> {
    let Ok(entries) = fs::read_dir(plugins_root(server)) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn release_body(components: Value, wizard: Value) -> Value {
    json!({
        "name": "Mitaka", "version": "mitaka-9.0", "operating_system": "Ubuntu",
        "components_metadata": components, "wizard_metadata": wizard,
    })
}

#[tokio::test]
async fn package_upload_installs_files_and_metadata() {
    let server = TestServer::new().await;
    let source = PluginSource::new("gridnet", PackageVersion::V5);
    source.edit("metadata.yaml", "groups: []", "groups: [network]\nprovides: [{name: 'networking:core'}]");
    source.write(
        "tasks.yaml",
        "- {role: '*', stage: pre_deployment/-5, type: shell, parameters: {cmd: a, timeout: 1, retries: 0}}\n",
    );
    let created = upload(&server, source.archive()).await.expect(201);
    assert_eq!(
        (&created["id"], &created["name"], &created["version"]),
        (&json!(1), &json!("gridnet"), &json!("1.0.0"))
    );
    assert!(created["warnings"].is_array(), "{created}");
    assert!(created.get("provides").is_none(), "`provides` is stored but not returned");
    assert_eq!(installed_folders(&server), ["gridnet-1.0"]);
    assert!(plugins_root(&server).join("gridnet-1.0/deployment_scripts/deploy.sh").is_file());
    let stored = server.app.store.read().await.unwrap().plugin_get(PluginId(1)).await.unwrap().unwrap().body;
    assert_eq!(stored.groups, ["network"]);
    assert_eq!(stored.tasks[0]["stage"], "pre_deployment/-5");
    assert!(stored.roles_metadata.contains_key("gridnet"));
    assert_eq!(stored.components_metadata[0]["name"], "additional_service:gridnet");
    for key in ["provides", "wizard_metadata", "nic_attributes_metadata", "network_roles_metadata"] {
        assert!(stored.extra.contains_key(key), "{key}");
    }
    assert!(!stored.attributes_metadata.is_empty() && !stored.volumes_metadata.is_empty());
    let graph = server.get("plugins/1/deployment_graphs/default").await.expect(200);
    let ids: Vec<&str> =
        graph["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["gridnet", "gridnet-deploy", "gridnet-verify"]);
    let error = upload(&server, source.archive()).await.expect(409);
    assert_eq!(error["errors"][0]["id"], 1);
    assert_eq!(installed_folders(&server), ["gridnet-1.0"]);
}

#[tokio::test]
async fn patch_versions_replace_and_minor_versions_coexist() {
    let server = TestServer::new().await;
    let source = PluginSource::new("gridnet", PackageVersion::V4);
    upload(&server, source.archive()).await.expect(201);
    source.set_version("1.0.1");
    source.write(
        "deployment_tasks.yaml",
        "- {id: only, type: shell, version: 2.0.0, role: '*', parameters: {cmd: a, timeout: 1}}\n",
    );
    let replaced = upload(&server, source.archive()).await.expect(200);
    assert_eq!((&replaced["id"], &replaced["version"]), (&json!(1), &json!("1.0.1")));
    let graph = server.get("plugins/1/deployment_graphs/default").await.expect(200);
    assert_eq!(graph["tasks"].as_array().unwrap().len(), 1);
    source.set_version("1.1.0");
    assert_eq!(upload(&server, source.archive()).await.expect(201)["id"], 2);
    assert_eq!(installed_folders(&server), ["gridnet-1.0", "gridnet-1.1"]);
    let old = PluginSource::new("old", PackageVersion::V1);
    assert_eq!(upload(&server, old.archive()).await.expect(201)["id"], 3);
    old.set_version("1.0.1");
    assert_eq!(
        upload(&server, old.archive()).await.expect(201)["id"],
        4,
        "packages of version 1 do not replace older versions"
    );
    assert_eq!(installed_folders(&server), ["gridnet-1.0", "gridnet-1.1", "old-1.0.0", "old-1.0.1"]);
}

#[tokio::test]
async fn invalid_package_is_refused_and_not_installed() {
    let server = TestServer::new().await;
    let source = PluginSource::new("gridnet", PackageVersion::V4);
    let sound = source.archive();
    let mut damaged = sound.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    for (archive, expected) in [
        (Vec::new(), "empty"),
        (b"PK\x03\x04".to_vec(), "a zip archive"),
        (b"{\"name\": \"x\"}".to_vec(), "not a plugin archive"),
        (damaged, ""),
        (sound[..sound.len() - 20].to_vec(), "corrupt"),
    ] {
        let message = upload(&server, archive).await.expect_error(400);
        assert!(message.contains(expected), "{message}");
    }
    source.edit("metadata.yaml", "is_hotpluggable: false", "is_hotpluggable: perhaps");
    source.write("components.yaml", "- {name: nonsense, label: x}\n");
    let reply = upload(&server, source.archive()).await.expect(400);
    let errors = reply["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2, "all errors are reported together: {reply}");
    assert_eq!((&errors[0]["code"], &errors[0]["line"]), (&json!("component-name"), &json!(1)));
    assert!(errors[1]["path"].as_str().unwrap().starts_with("metadata.yaml: is_hotpluggable"), "{reply}");
    assert_eq!(server.get("plugins/").await.expect(200), json!([]));
    assert_eq!(installed_folders(&server), Vec::<String>::new());
}

#[tokio::test]
async fn oversized_package_is_refused() {
    let server = TestServer::with_settings(Server { plugin_bytes_max: 500, ..Server::default() }).await;
    let message =
        upload(&server, PluginSource::new("gridnet", PackageVersion::V4).archive()).await.expect_error(413);
    assert!(message.contains("500 bytes"), "{message}");
    assert_eq!(installed_folders(&server), Vec::<String>::new());
}

#[tokio::test]
async fn package_conflicting_with_release_is_refused() {
    let server = TestServer::new().await;
    let wizard = json!({"AdditionalServices": {"own": {"type": "checkbox", "label": "Own"}}});
    let release = release_body(json!([{"name": "storage:block:lvm", "label": "LVM"}]), wizard);
    server.post("releases/", &release).await.expect(201);
    let source = PluginSource::new("gridnet", PackageVersion::V5);
    source.write("components.yaml", "- {name: 'storage:block:lvm', label: Mine}\n");
    source.write(
        "wizard_metadata.yaml",
        "AdditionalServices: {own: {label: Other}}\nNowhere: {a: {type: checkbox}}\n",
    );
    let reply = upload(&server, source.archive()).await.expect(409);
    let codes: Vec<&str> =
        reply["errors"].as_array().unwrap().iter().map(|error| error["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["duplicate", "scalar", "unknown_pane"], "{reply}");
    assert!(reply["message"].as_str().unwrap().contains("release `Mitaka`"), "{reply}");
    assert_eq!(server.get("plugins/").await.expect(200), json!([]));
    assert_eq!(installed_folders(&server), Vec::<String>::new());
    // The same package is accepted for another release.
    source.edit("metadata.yaml", "version: mitaka-9.0", "version: newton-10.0");
    upload(&server, source.archive()).await.expect(201);
}

#[tokio::test]
async fn duplicate_component_across_plugins_is_refused() {
    let server = TestServer::new().await;
    server.post("releases/", &release_body(json!([]), json!({}))).await.expect(201);
    let one = PluginSource::new("one", PackageVersion::V5);
    one.write("components.yaml", "- {name: 'network:core:x', label: X}\n");
    upload(&server, one.archive()).await.expect(201);
    let two = PluginSource::new("two", PackageVersion::V5);
    two.write("components.yaml", "- {name: 'network:core:x', label: X}\n");
    let message = upload(&server, two.archive()).await.expect_error(409);
    assert!(message.contains("one, two"), "{message}");
    // Newer versions of the first plugin may provide it.
    one.set_version("1.0.1");
    upload(&server, one.archive()).await.expect(200);
    one.set_version("2.0.0");
    upload(&server, one.archive()).await.expect(201);
    assert_eq!(installed_folders(&server), ["one-1.0", "one-2.0"]);
}

#[tokio::test]
async fn mutually_exclusive_components_are_reported() {
    let server = TestServer::new().await;
    let source = PluginSource::new("gridnet", PackageVersion::V5);
    source.write(
        "components.yaml",
        "- {name: 'network:a', label: A, incompatible: [{name: 'network:b'}], requires: [{name: 'network:b'}]}\n- {name: 'network:b', label: B}\n",
    );
    let created = upload(&server, source.archive()).await.expect(201);
    let warnings = created["warnings"].to_string();
    assert!(warnings.contains("cannot be chosen together"), "{created}");
    assert!(warnings.contains("requires `network:b` and is not compatible with it"), "{created}");
}

#[tokio::test]
async fn sync_rereads_plugin_files() {
    let server = TestServer::new().await;
    upload(&server, PluginSource::new("gridnet", PackageVersion::V5).archive()).await.expect(201);
    let metadata = plugins_root(&server).join("gridnet-1.0/metadata.yaml");
    let original = fs::read_to_string(&metadata).unwrap();
    fs::write(&metadata, original.replace("title: gridnet", "title: Grid")).unwrap();
    assert_eq!(sync(&server, "{\"ids\": [1]}").await.expect(200), json!({}));
    assert_eq!(server.get("plugins/1").await.expect(200)["title"], "Grid");
    assert_eq!(sync(&server, "{\"ids\": [1, 77]}").await.expect_error(404), "Plugin not found");
    for body in ["{\"ids\": 1}", "{\"ids\": [\"x\"]}", "[1]", "{\"other\": 1}", "{"] {
        sync(&server, body).await.expect_error(400);
    }
    fs::write(&metadata, original.replace("name: gridnet", "name: other")).unwrap();
    let message = sync(&server, "{\"ids\": [1]}").await.expect_error(400);
    assert!(message.contains("cannot rename plugin"), "{message}");
    fs::write(&metadata, original.replace("version: '1.0.0'", "version: '1.2.0'")).unwrap();
    let message = sync(&server, "{\"ids\": [1]}").await.expect_error(400);
    assert!(message.contains("rename the directory to `gridnet-1.2`"), "{message}");
    fs::write(&metadata, "name: [").unwrap();
    let reply = sync(&server, "{\"ids\": [1]}").await.expect(400);
    assert!(reply["errors"][0]["path"].as_str().unwrap().starts_with("gridnet-1.0/metadata.yaml"), "{reply}");
    assert_eq!(server.get("plugins/1").await.expect(200)["title"], "Grid", "nothing is stored");
    let described = json!({
        "name": "described", "title": "D", "version": "1.0.0", "package_version": "5.0.0", "fuel_version": [], "releases": [],
    });
    let id = server.post("plugins/", &described).await.expect(201)["id"].clone();
    let message = sync(&server, &json!({"ids": [id]}).to_string()).await.expect_error(400);
    assert!(message.contains("not installed from files"), "{message}");
}

fn copy_folder(source: &Path, target: &Path) {
    fs::create_dir_all(target).unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let inner = target.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &inner);
        } else {
            fs::copy(entry.path(), inner).unwrap();
        }
    }
}

#[tokio::test]
async fn sync_reconciles_records_with_the_plugins_root() {
    let server = TestServer::new().await;
    assert_eq!(sync(&server, "").await.expect(200), json!({}), "an empty plugins root is valid");
    for name in ["known", "gone", "used"] {
        upload(&server, PluginSource::new(name, PackageVersion::V5).archive()).await.expect(201);
    }
    let described = json!({
        "name": "described", "title": "D", "version": "1.0.0", "package_version": "5.0.0", "fuel_version": [], "releases": [],
    });
    server.post("plugins/", &described).await.expect(201);
    server.post("releases/", &release_body(json!([]), json!({}))).await.expect(201);
    let cluster = cluster_with_roles(&server, 1, &[], &[]).await;
    set_plugin_enabled(&server, cluster, true).await;
    // The record of an enabled plugin is kept although its files are missing.
    fs::remove_dir_all(plugins_root(&server).join("known-1.0")).unwrap();
    fs::remove_dir_all(plugins_root(&server).join("gone-1.0")).unwrap();
    let metadata = plugins_root(&server).join("used-1.0/metadata.yaml");
    let text = fs::read_to_string(&metadata).unwrap().replace("title: used", "title: Used");
    fs::write(&metadata, text).unwrap();
    copy_folder(
        PluginSource::new("fresh", PackageVersion::V1).path(),
        &plugins_root(&server).join("fresh-1.0.0"),
    );
    for body in ["null", "{}"] {
        assert_eq!(sync(&server, body).await.expect(200), json!({}));
    }
    let listed = server.get("plugins/").await.expect(200);
    let listed: Vec<&str> =
        listed.as_array().unwrap().iter().map(|plugin| plugin["name"].as_str().unwrap()).collect();
    assert_eq!(listed, ["known", "used", "described", "fresh"]);
    assert_eq!(server.get("plugins/3").await.expect(200)["title"], "Used");
    copy_folder(
        PluginSource::new("other", PackageVersion::V5).path(),
        &plugins_root(&server).join("wrong-name"),
    );
    let message = sync(&server, "{}").await.expect_error(400);
    assert!(message.contains("`wrong-name` contains plugin `other`"), "{message}");
}

#[tokio::test]
async fn plugin_deletion_removes_its_files() {
    let server = TestServer::new().await;
    upload(&server, PluginSource::new("gridnet", PackageVersion::V5).archive()).await.expect(201);
    server.post("releases/", &release_body(json!([]), json!({}))).await.expect(201);
    let cluster = cluster_with_roles(&server, 1, &[], &[]).await;
    set_plugin_enabled(&server, cluster, true).await;
    server.delete("plugins/1").await.expect_error(409);
    assert_eq!(installed_folders(&server), ["gridnet-1.0"]);
    set_plugin_enabled(&server, cluster, false).await;
    server.delete("plugins/1").await.expect(204);
    assert_eq!(installed_folders(&server), Vec::<String>::new());
}

#[tokio::test]
async fn plugin_scripts_are_copied_by_a_task() {
    let server = TestServer::new().await;
    upload(&server, PluginSource::new("gridnet", PackageVersion::V5).archive()).await.expect(201);
    server.post("releases/", &release_body(json!([]), json!({}))).await.expect(201);
    let cluster = cluster_with_roles(&server, 1, &[], &[]).await;
    set_plugin_enabled(&server, cluster, true).await;
    let find_copy_task = async || {
        let path = format!("clusters/{cluster}/deployment_tasks/?type=default");
        let tasks = server.get(&path).await.expect(200);
        let mut tasks = tasks.as_array().unwrap().iter();
        tasks.find(|task| task["id"] == "gridnet-scripts").cloned()
    };
    let task = find_copy_task().await.unwrap();
    assert_eq!((&task["type"], &task["roles"]), (&json!("copy_files"), &json!(["gridnet"])), "{task}");
    assert_eq!(task["required_for"], json!(["gridnet-deploy", "gridnet-verify"]));
    let file = &task["parameters"]["files"][0];
    assert_eq!(file["dst"], "/etc/fuel/plugins/gridnet-1.0.0/");
    assert!(Path::new(file["src"].as_str().unwrap()).join("deploy.sh").is_file(), "{task}");
    // Paths outside the package are not copied to nodes.
    for path in ["../../", "/etc/", "deployment_scripts/../.."] {
        let releases = json!([{
            "os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha"], "deployment_scripts_path": path,
            "repository_path": "repositories/ubuntu",
        }]);
        server.put("plugins/1", &json!({"releases": releases})).await.expect(200);
        assert_eq!(find_copy_task().await, None, "{path}");
    }
}

#[tokio::test]
async fn update_cannot_remove_assigned_roles() {
    let server = TestServer::new().await;
    let source = PluginSource::new("gridnet", PackageVersion::V5);
    upload(&server, source.archive()).await.expect(201);
    server.post("releases/", &release_body(json!([]), json!({}))).await.expect(201);
    let cluster = cluster_with_roles(&server, 1, &["gridnet"], &[]).await;
    set_plugin_enabled(&server, cluster, true).await;
    source.set_version("1.0.1");
    source.edit("node_roles.yaml", "gridnet:", "gridnet2:");
    let reply = upload(&server, source.archive()).await;
    assert!(reply.status == 400 || reply.status == 409, "{}", reply.body);
    let roles = fs::read_to_string(plugins_root(&server).join("gridnet-1.0/node_roles.yaml")).unwrap();
    assert!(roles.contains("gridnet:"), "the old files are kept");
    assert_eq!(server.get("plugins/1").await.expect(200)["version"], "1.0.0");
}
