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
    let folders = files_in(&root.join("community"));
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
    let packages = folders.filter_map(|folder| check(&tree(folder), PackageCheckOptions::default()).package);
    packages.map(|package| package.plugin).filter(|plugin| plugin.name != "nsx-t").collect()
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
