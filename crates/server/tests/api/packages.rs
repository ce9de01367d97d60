//! `/plugins/upload/` and `/plugins/sync/`: packages, their files and their records.

use std::fs;
use std::path::{Path, PathBuf};

use axum::body::Body;
use serde_json::{Value, json};
use stoker_model::PluginId;
use stoker_packages::pack;
use stoker_registry::package::{PackageVersion, SkeletonOptions, skeleton};
use stoker_settings::Server;
use stoker_testkit::Folder;

use crate::fixtures::{cluster_with_roles, set_enabled};
use crate::support::{Reply, TestServer};

/// A plugin that somebody works on.
pub(crate) struct Source(Folder);

impl Source {
    pub(crate) fn new(name: &str, version: PackageVersion) -> Self {
        let source = Self(Folder::new());
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

    fn edit(&self, file: &str, from: &str, to: &str) {
        let before = fs::read_to_string(self.0.file(file)).unwrap();
        assert!(before.contains(from), "{before}");
        self.write(file, &before.replace(from, to));
    }

    fn version(&self, version: &str) {
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

pub(crate) fn root(server: &TestServer) -> PathBuf {
    server.app.settings.plugins_root.clone()
}

/// Everything below the root of plugins, work in progress included.
fn installed(server: &TestServer) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root(server)) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn release(components: Value, wizard: Value) -> Value {
    json!({
        "name": "Mitaka", "version": "mitaka-9.0", "operating_system": "Ubuntu",
        "components_metadata": components, "wizard_metadata": wizard,
    })
}

#[tokio::test]
async fn package_upload_installs_files_and_metadata() {
    let server = TestServer::new().await;
    let source = Source::new("gridnet", PackageVersion::V5);
    source.edit("metadata.yaml", "groups: []", "groups: [network]\nprovides: [{name: 'networking:core'}]");
    source.write(
        "tasks.yaml",
        "- {role: '*', stage: pre_deployment/-5, type: shell, parameters: {cmd: a, timeout: 1, retries: 0}}\n",
    );
    let made = upload(&server, source.archive()).await.expect(201);
    assert_eq!(
        (&made["id"], &made["name"], &made["version"]),
        (&json!(1), &json!("gridnet"), &json!("1.0.0"))
    );
    assert!(made["warnings"].is_array(), "{made}");
    assert!(made.get("provides").is_none(), "kept for clusters and not shown");
    assert_eq!(installed(&server), ["gridnet-1.0"]);
    assert!(root(&server).join("gridnet-1.0/deployment_scripts/deploy.sh").is_file());
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
    let again = upload(&server, source.archive()).await.expect(409);
    assert_eq!(again["errors"][0]["id"], 1);
    assert_eq!(installed(&server), ["gridnet-1.0"]);
}

#[tokio::test]
async fn patch_versions_replace_and_minor_versions_coexist() {
    let server = TestServer::new().await;
    let source = Source::new("gridnet", PackageVersion::V4);
    upload(&server, source.archive()).await.expect(201);
    source.version("1.0.1");
    source.write(
        "deployment_tasks.yaml",
        "- {id: only, type: shell, version: 2.0.0, role: '*', parameters: {cmd: a, timeout: 1}}\n",
    );
    let replaced = upload(&server, source.archive()).await.expect(200);
    assert_eq!((&replaced["id"], &replaced["version"]), (&json!(1), &json!("1.0.1")));
    let graph = server.get("plugins/1/deployment_graphs/default").await.expect(200);
    assert_eq!(graph["tasks"].as_array().unwrap().len(), 1);
    source.version("1.1.0");
    assert_eq!(upload(&server, source.archive()).await.expect(201)["id"], 2);
    assert_eq!(installed(&server), ["gridnet-1.0", "gridnet-1.1"]);
    let old = Source::new("old", PackageVersion::V1);
    assert_eq!(upload(&server, old.archive()).await.expect(201)["id"], 3);
    old.version("1.0.1");
    assert_eq!(
        upload(&server, old.archive()).await.expect(201)["id"],
        4,
        "package version 1 replaces nothing"
    );
    assert_eq!(installed(&server), ["gridnet-1.0", "gridnet-1.1", "old-1.0.0", "old-1.0.1"]);
}

#[tokio::test]
async fn invalid_package_is_refused_and_not_installed() {
    let server = TestServer::new().await;
    let source = Source::new("gridnet", PackageVersion::V4);
    let sound = source.archive();
    let mut damaged = sound.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    for (archive, expected) in [
        (Vec::new(), "empty"),
        (b"PK\x03\x04".to_vec(), "a zip archive"),
        (b"{\"name\": \"x\"}".to_vec(), "not a plugin archive"),
        (damaged, ""),
        (sound[..sound.len() - 20].to_vec(), "damaged"),
    ] {
        let message = upload(&server, archive).await.refused(400);
        assert!(message.contains(expected), "{message}");
    }
    source.edit("metadata.yaml", "is_hotpluggable: false", "is_hotpluggable: perhaps");
    source.write("components.yaml", "- {name: nonsense, label: x}\n");
    let reply = upload(&server, source.archive()).await.expect(400);
    let errors = reply["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2, "all at once: {reply}");
    assert_eq!((&errors[0]["code"], &errors[0]["line"]), (&json!("component-name"), &json!(1)));
    assert!(errors[1]["path"].as_str().unwrap().starts_with("metadata.yaml: is_hotpluggable"), "{reply}");
    assert_eq!(server.get("plugins/").await.expect(200), json!([]));
    assert_eq!(installed(&server), Vec::<String>::new());
}

#[tokio::test]
async fn oversized_package_is_refused() {
    let server = TestServer::with(Server { plugin_bytes_max: 500, ..Server::default() }).await;
    let message = upload(&server, Source::new("gridnet", PackageVersion::V4).archive()).await.refused(413);
    assert!(message.contains("500 bytes"), "{message}");
    assert_eq!(installed(&server), Vec::<String>::new());
}

#[tokio::test]
async fn package_conflicting_with_release_is_refused() {
    let server = TestServer::new().await;
    let wizard = json!({"AdditionalServices": {"own": {"type": "checkbox", "label": "Own"}}});
    let release = release(json!([{"name": "storage:block:lvm", "label": "LVM"}]), wizard);
    server.post("releases/", &release).await.expect(201);
    let source = Source::new("gridnet", PackageVersion::V5);
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
    assert_eq!(installed(&server), Vec::<String>::new());
    // For other releases it would be fine.
    source.edit("metadata.yaml", "version: mitaka-9.0", "version: newton-10.0");
    upload(&server, source.archive()).await.expect(201);
}

#[tokio::test]
async fn duplicate_component_across_plugins_is_refused() {
    let server = TestServer::new().await;
    server.post("releases/", &release(json!([]), json!({}))).await.expect(201);
    let one = Source::new("one", PackageVersion::V5);
    one.write("components.yaml", "- {name: 'network:core:x', label: X}\n");
    upload(&server, one.archive()).await.expect(201);
    let two = Source::new("two", PackageVersion::V5);
    two.write("components.yaml", "- {name: 'network:core:x', label: X}\n");
    let message = upload(&server, two.archive()).await.refused(409);
    assert!(message.contains("one, two"), "{message}");
    // A newer version of the first may provide it, of course.
    one.version("1.0.1");
    upload(&server, one.archive()).await.expect(200);
    one.version("2.0.0");
    upload(&server, one.archive()).await.expect(201);
    assert_eq!(installed(&server), ["one-1.0", "one-2.0"]);
}

#[tokio::test]
async fn mutually_exclusive_components_are_reported() {
    let server = TestServer::new().await;
    let source = Source::new("gridnet", PackageVersion::V5);
    source.write(
        "components.yaml",
        "- {name: 'network:a', label: A, incompatible: [{name: 'network:b'}], requires: [{name: 'network:b'}]}\n- {name: 'network:b', label: B}\n",
    );
    let made = upload(&server, source.archive()).await.expect(201);
    let warnings = made["warnings"].to_string();
    assert!(warnings.contains("cannot be chosen together"), "{made}");
    assert!(warnings.contains("requires `network:b` and is not compatible with it"), "{made}");
}

#[tokio::test]
async fn sync_rereads_plugin_files() {
    let server = TestServer::new().await;
    upload(&server, Source::new("gridnet", PackageVersion::V5).archive()).await.expect(201);
    let metadata = root(&server).join("gridnet-1.0/metadata.yaml");
    let original = fs::read_to_string(&metadata).unwrap();
    fs::write(&metadata, original.replace("title: gridnet", "title: Grid")).unwrap();
    assert_eq!(sync(&server, "{\"ids\": [1]}").await.expect(200), json!({}));
    assert_eq!(server.get("plugins/1").await.expect(200)["title"], "Grid");
    assert_eq!(sync(&server, "{\"ids\": [1, 77]}").await.refused(404), "Plugin not found");
    for body in ["{\"ids\": 1}", "{\"ids\": [\"x\"]}", "[1]", "{\"other\": 1}", "{"] {
        sync(&server, body).await.refused(400);
    }
    fs::write(&metadata, original.replace("name: gridnet", "name: other")).unwrap();
    let message = sync(&server, "{\"ids\": [1]}").await.refused(400);
    assert!(message.contains("that cannot change"), "{message}");
    fs::write(&metadata, original.replace("version: '1.0.0'", "version: '1.2.0'")).unwrap();
    let message = sync(&server, "{\"ids\": [1]}").await.refused(400);
    assert!(message.contains("belongs into `gridnet-1.2`"), "{message}");
    fs::write(&metadata, "name: [").unwrap();
    let reply = sync(&server, "{\"ids\": [1]}").await.expect(400);
    assert!(reply["errors"][0]["path"].as_str().unwrap().starts_with("gridnet-1.0/metadata.yaml"), "{reply}");
    assert_eq!(server.get("plugins/1").await.expect(200)["title"], "Grid", "nothing changed");
    let described = json!({
        "name": "described", "title": "D", "version": "1.0.0", "package_version": "5.0.0", "fuel_version": [], "releases": [],
    });
    let id = server.post("plugins/", &described).await.expect(201)["id"].clone();
    let message = sync(&server, &json!({"ids": [id]}).to_string()).await.refused(400);
    assert!(message.contains("not installed from files"), "{message}");
}

fn copy(source: &Path, target: &Path) {
    fs::create_dir_all(target).unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let inner = target.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &inner);
        } else {
            fs::copy(entry.path(), inner).unwrap();
        }
    }
}

#[tokio::test]
async fn sync_reconciles_records_with_the_plugins_root() {
    let server = TestServer::new().await;
    assert_eq!(sync(&server, "").await.expect(200), json!({}), "nothing is there, which is fine");
    for name in ["known", "gone", "used"] {
        upload(&server, Source::new(name, PackageVersion::V5).archive()).await.expect(201);
    }
    let described = json!({
        "name": "described", "title": "D", "version": "1.0.0", "package_version": "5.0.0", "fuel_version": [], "releases": [],
    });
    server.post("plugins/", &described).await.expect(201);
    server.post("releases/", &release(json!([]), json!({}))).await.expect(201);
    let cluster = cluster_with_roles(&server, 1, &[], &[]).await;
    set_enabled(&server, cluster, true).await;
    // The first is enabled, so it stays although its files are gone.
    fs::remove_dir_all(root(&server).join("known-1.0")).unwrap();
    fs::remove_dir_all(root(&server).join("gone-1.0")).unwrap();
    let metadata = root(&server).join("used-1.0/metadata.yaml");
    let text = fs::read_to_string(&metadata).unwrap().replace("title: used", "title: Used");
    fs::write(&metadata, text).unwrap();
    copy(Source::new("fresh", PackageVersion::V1).path(), &root(&server).join("fresh-1.0.0"));
    for body in ["null", "{}"] {
        assert_eq!(sync(&server, body).await.expect(200), json!({}));
    }
    let listed = server.get("plugins/").await.expect(200);
    let listed: Vec<&str> =
        listed.as_array().unwrap().iter().map(|plugin| plugin["name"].as_str().unwrap()).collect();
    assert_eq!(listed, ["known", "used", "described", "fresh"]);
    assert_eq!(server.get("plugins/3").await.expect(200)["title"], "Used");
    copy(Source::new("other", PackageVersion::V5).path(), &root(&server).join("wrong-name"));
    let message = sync(&server, "{}").await.refused(400);
    assert!(message.contains("`wrong-name` holds `other`"), "{message}");
}

#[tokio::test]
async fn plugin_deletion_removes_its_files() {
    let server = TestServer::new().await;
    upload(&server, Source::new("gridnet", PackageVersion::V5).archive()).await.expect(201);
    server.post("releases/", &release(json!([]), json!({}))).await.expect(201);
    let cluster = cluster_with_roles(&server, 1, &[], &[]).await;
    set_enabled(&server, cluster, true).await;
    server.delete("plugins/1").await.refused(409);
    assert_eq!(installed(&server), ["gridnet-1.0"]);
    set_enabled(&server, cluster, false).await;
    server.delete("plugins/1").await.expect(204);
    assert_eq!(installed(&server), Vec::<String>::new());
}

#[tokio::test]
async fn plugin_scripts_are_copied_by_a_task() {
    let server = TestServer::new().await;
    upload(&server, Source::new("gridnet", PackageVersion::V5).archive()).await.expect(201);
    server.post("releases/", &release(json!([]), json!({}))).await.expect(201);
    let cluster = cluster_with_roles(&server, 1, &[], &[]).await;
    set_enabled(&server, cluster, true).await;
    let copying = async || {
        let path = format!("clusters/{cluster}/deployment_tasks/plugins/?type=default");
        let tasks = server.get(&path).await.expect(200);
        let mut tasks = tasks.as_array().unwrap().iter();
        tasks.find(|task| task["id"] == "gridnet-scripts").cloned()
    };
    let task = copying().await.unwrap();
    assert_eq!((&task["type"], &task["roles"]), (&json!("copy_files"), &json!(["gridnet"])), "{task}");
    assert_eq!(task["required_for"], json!(["gridnet-deploy", "gridnet-verify"]));
    let file = &task["parameters"]["files"][0];
    assert_eq!(file["dst"], "/etc/fuel/plugins/gridnet-1.0.0/");
    assert!(Path::new(file["src"].as_str().unwrap()).join("deploy.sh").is_file(), "{task}");
    // What was not in the package is not given to nodes.
    for path in ["../../", "/etc/", "deployment_scripts/../.."] {
        let releases = json!([{
            "os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha"], "deployment_scripts_path": path,
            "repository_path": "repositories/ubuntu",
        }]);
        server.put("plugins/1", &json!({"releases": releases})).await.expect(200);
        assert_eq!(copying().await, None, "{path}");
    }
}

#[tokio::test]
async fn update_cannot_remove_assigned_roles() {
    let server = TestServer::new().await;
    let source = Source::new("gridnet", PackageVersion::V5);
    upload(&server, source.archive()).await.expect(201);
    server.post("releases/", &release(json!([]), json!({}))).await.expect(201);
    let cluster = cluster_with_roles(&server, 1, &["gridnet"], &[]).await;
    set_enabled(&server, cluster, true).await;
    source.version("1.0.1");
    source.edit("node_roles.yaml", "gridnet:", "gridnet2:");
    let reply = upload(&server, source.archive()).await;
    assert!(reply.status == 400 || reply.status == 409, "{}", reply.body);
    let readme = fs::read_to_string(root(&server).join("gridnet-1.0/node_roles.yaml")).unwrap();
    assert!(readme.contains("gridnet:"), "the old files are there");
    assert_eq!(server.get("plugins/1").await.expect(200)["version"], "1.0.0");
}
