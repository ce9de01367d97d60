//! Merged graphs of a cluster before and after a change of its release.

use std::collections::{BTreeMap, BTreeSet};

use stoker_diagnostics::Diagnostic;
use stoker_graph::{MergedTask, merge};
use stoker_model::{Cluster, Graph, GraphType, JsonMap, Owner, Release};
use stoker_store::{GraphFilter, List, Session};

use crate::error::ServiceResult;
use crate::graphs::{Graphs, LayerFilter, LayerRecords, Layers};

/// A task whose definition differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskChange {
    pub id: String,
    /// Canonical names of the fields that differ.
    pub fields: Vec<String>,
}

/// Differences of the merged graphs of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphChange {
    pub graph_type: String,
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub changed: Vec<TaskChange>,
}

/// Fields of merged tasks by graph type and task.
pub(super) type MergedTasks = BTreeMap<String, BTreeMap<String, JsonMap>>;

/// Records of the graphs of a cluster, by graph type.
pub(super) type GraphRecords = BTreeMap<GraphType, LayerRecords>;

pub(super) async fn graph_records(session: &mut Session, cluster: &Cluster) -> ServiceResult<GraphRecords> {
    let stored = stored_graphs(session, cluster).await?;
    let types: BTreeSet<GraphType> = stored.into_iter().map(|graph| graph.graph_type).collect();
    let mut records = GraphRecords::new();
    for graph_type in types {
        let of_type = LayerRecords::read(session, cluster, &graph_type, LayerFilter::ALL).await?;
        records.insert(graph_type, of_type);
    }
    Ok(records)
}

pub(super) async fn merged_tasks(graphs: &Graphs, records: GraphRecords) -> ServiceResult<MergedTasks> {
    let mut merged_tasks = MergedTasks::new();
    for (graph_type, of_type) in records {
        let layers = Layers::new(graphs, of_type).await?;
        let merged = merge(&layers.layers(), layers.rules());
        let tasks = merged.tasks.iter().map(MergedTask::to_task);
        let tasks = tasks.map(|task| (task.name, task.fields)).collect();
        merged_tasks.insert(graph_type.as_str().to_owned(), tasks);
    }
    Ok(merged_tasks)
}

/// Graphs of a cluster, its release and its enabled plugins.
async fn stored_graphs(session: &mut Session, cluster: &Cluster) -> ServiceResult<Vec<Graph>> {
    let links = session.cluster_plugins(cluster.id).await?;
    let plugins = links.iter().filter(|link| link.enabled).map(|link| Owner::Plugin(link.plugin_id));
    let own = [Owner::Release(cluster.release_id), Owner::Cluster(cluster.id)];
    let filter = GraphFilter { owners: Some(own.into_iter().chain(plugins).collect()), types: None };
    Ok(session.graph_list(&filter, &List::default()).await?.items)
}

/// Reports tasks without a type in every layer: overrides of tasks that the release does not have. The cluster could not be
/// planned.
pub(super) async fn untyped_overrides(
    session: &mut Session,
    cluster: &Cluster,
    release: &Release,
) -> ServiceResult<Vec<Diagnostic>> {
    let graphs = stored_graphs(session, cluster).await?;
    let mut has_type: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for graph in &graphs {
        for stored in graph.tasks.iter() {
            let entry = has_type.entry((graph.graph_type.as_str(), stored.task.name.as_str())).or_default();
            *entry |= stored.task.field("type").is_some_and(|task_type| !task_type.is_null());
        }
    }
    let untyped = has_type.into_iter().filter(|(_, has_type)| !has_type);
    let report = |((graph_type, task), _)| {
        let message = format!(
            "task `{task}` of graph `{graph_type}` overrides a task that release `{}` {} does not have, and has no type",
            release.body.name, release.body.version
        );
        let help = "delete the override, or add a type";
        Diagnostic::plain(message).path("release_id").help(help)
    };
    Ok(untyped.map(report).collect())
}

/// Returns the graph types that differ.
pub(super) fn compare(before: &MergedTasks, after: &MergedTasks) -> Vec<GraphChange> {
    let none = BTreeMap::new();
    let types: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |graph_type: &String| {
        let old = before.get(graph_type).unwrap_or(&none);
        let new = after.get(graph_type).unwrap_or(&none);
        let missing = |tasks: &BTreeMap<String, JsonMap>, others: &BTreeMap<String, JsonMap>| {
            tasks.keys().filter(|id| !others.contains_key(*id)).cloned().collect()
        };
        let changed = old.iter().filter_map(|(id, fields)| {
            let fields = differing(fields, new.get(id)?);
            (!fields.is_empty()).then(|| TaskChange { id: id.clone(), fields })
        });
        GraphChange {
            graph_type: graph_type.clone(),
            added: missing(new, old),
            removed: missing(old, new),
            changed: changed.collect(),
        }
    };
    let changes = types.into_iter().map(change);
    changes
        .filter(|change| !(change.added.is_empty() && change.removed.is_empty() && change.changed.is_empty()))
        .collect()
}

fn differing(old: &JsonMap, new: &JsonMap) -> Vec<String> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differs = |name: &&String| old.get(*name) != new.get(*name);
    names.into_iter().filter(differs).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tasks_are_compared_by_id_and_field() {
        let graphs = |value: serde_json::Value| -> MergedTasks { serde_json::from_value(value).unwrap() };
        let before = graphs(json!({
            "default": {"a": {"type": "shell", "cmd": 1}, "b": {"type": "shell"}}, "same": {"x": {}}, "gone": {"y": {}},
        }));
        let after = graphs(json!({
            "default": {"a": {"type": "puppet", "roles": []}, "c": {}}, "same": {"x": {}},
        }));
        let change =
            |graph_type: &str, added: &[&str], removed: &[&str], changed: Vec<TaskChange>| GraphChange {
                graph_type: graph_type.to_owned(),
                added: added.iter().map(ToString::to_string).collect(),
                removed: removed.iter().map(ToString::to_string).collect(),
                changed,
            };
        let fields = ["cmd", "roles", "type"].map(str::to_owned).to_vec();
        let changed = TaskChange { id: "a".to_owned(), fields };
        assert_eq!(
            compare(&before, &after),
            [change("default", &["c"], &["b"], vec![changed]), change("gone", &[], &["y"], Vec::new())]
        );
    }
}
