//! The real graph on a cluster of any size, created through the REST API.
//!
//! The settings of the real cluster become those of the release. The server computes the rest of the state
//! from its records (the nodes and their own data) after the agents have joined, so the state grows with the
//! fleet.

use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::json;
use stoker_diagnostics::Diagnostics;
use stoker_model::{Json, JsonMap};
use stoker_yaml::LoadLimits;

use crate::server::Api;

/// Optional test data next to the clone.
const DATA_FOLDER: &str = "../shared/data";
/// One node of each role in the real cluster; all others are compute nodes.
const FIRST: &[&str] = &["controller", "compute", "ceph-osd", "controller", "mongo", "mongo"];
/// Number of nodes needed to have every role.
pub(crate) const N_KINDS: usize = FIRST.len();
const OTHER: &str = "compute";
const MODEL: &str = "nodes/node-127.compute.yaml";
/// Keys that the server computes itself.
const COMPUTED: &[&str] = &["uid", "cluster", "release", "plugins", "nodes", "settings"];

pub(crate) struct Real {
    tasks: Json,
    roles: Json,
    /// Document of one node.
    document: JsonMap,
}

impl Real {
    pub(crate) fn read() -> Result<Self, Box<dyn Error>> {
        let graph = yaml("fuel-library/default-graph.yaml")?;
        let tasks = match graph {
            Json::Object(mut graph) => graph.remove("tasks").ok_or("the graph has no tasks")?,
            list => list,
        };
        let Json::Object(document) = yaml(MODEL)? else { return Err("a node is not a map".into()) };
        Ok(Self { tasks, roles: yaml("nodes/roles-and-tags.yaml")?, document })
    }

    /// Returns the network fact that agents report.
    pub(crate) fn network_scheme(&self) -> Json {
        self.document.get("network_scheme").cloned().unwrap_or_default()
    }

    /// Creates a cluster with nodes 1 to `n_nodes`, which have already joined.
    pub(crate) async fn make(
        &self,
        server: &impl Api,
        n_nodes: usize,
        file: &Path,
    ) -> Result<i64, Box<dyn Error>> {
        let mut settings = self.document.clone();
        settings.retain(|key, value| !COMPUTED.contains(&key.as_str()) && value.is_object());
        // Top-level scalars go into a section of their own, which the server merges into the top level.
        let mut top = self.document.clone();
        top.retain(|key, value| !COMPUTED.contains(&key.as_str()) && !value.is_object() && !value.is_null());
        let top = top.into_iter().map(|(key, value)| (key, json!({"value": value, "type": "hidden"})));
        settings.insert("common".to_owned(), Json::Object(top.collect()));
        let release = json!({
            "name": "real", "version": "mitaka-10.0", "operating_system": "Ubuntu", "state": "available",
            "roles_metadata": self.roles["roles_metadata"], "tags_metadata": self.roles["tags_metadata"],
            "attributes_metadata": {"editable": settings},
        });
        let release = server.create("/api/v1/releases", &release).await?;
        let cluster =
            server.create("/api/v1/clusters", &json!({"name": "real", "release_id": release})).await?;
        let role = |number: usize| FIRST.get(number - 1).copied().unwrap_or(OTHER);
        let assigned: Vec<Json> =
            (1..=n_nodes).map(|number| json!({"id": number, "roles": [role(number)]})).collect();
        let path = format!("/api/v1/clusters/{cluster}/assignment");
        server.call("POST", &path, Some(&json!(assigned))).await?;
        let path = format!("/api/v1/releases/{release}/deployment_tasks");
        server.call("PUT", &path, Some(&with_files(self.tasks.clone(), file))).await?;
        Ok(cluster)
    }
}

/// Replaces the source of copied files: files of the real master do not exist here.
fn with_files(mut tasks: Json, file: &Path) -> Json {
    let copying = tasks.as_array_mut().into_iter().flatten().filter(|task| task["type"] == "copy_files");
    for source in copying.flat_map(|task| task["parameters"]["files"].as_array_mut().into_iter().flatten()) {
        source["src"] = json!(file);
    }
    tasks
}

fn yaml(name: &str) -> Result<Json, Box<dyn Error>> {
    let path = Path::new(DATA_FOLDER).join(name);
    let text = fs::read_to_string(&path).map_err(|error| {
        format!("the fleet benchmark needs a real graph next to the clone: `{}`: {error}", path.display())
    })?;
    let limits = LoadLimits { size_bytes_max: 64 << 20, nodes_max: 10_000_000, ..LoadLimits::default() };
    let loaded = stoker_yaml::load(&text, &limits);
    let root = loaded.documents.first().map(|document| &document.root).ok_or("an empty document")?;
    Ok(stoker_manifest::reader::json(root, &mut Diagnostics::default()).ok_or("no data")?)
}
