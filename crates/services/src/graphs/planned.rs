//! Merged graph of a cluster, as input of planning.

use std::collections::HashMap;

use stoker_diagnostics::{Diagnostic, ProblemOrigin};
use stoker_graph::{MergedGraph, MergedTask, Source, merge, untyped_tasks};
use stoker_model::{Cluster, GraphId, GraphMetadata, GraphSource, GraphType, Json, Task, canonical_field};
use stoker_store::Session;

use crate::error::ServiceResult;

use super::Graphs;
use super::layers::{LayerFilter, Layers};

/// All layers, merged to one list of tasks.
pub struct PlannedGraph {
    pub tasks: Vec<Task>,
    pub metadata: GraphMetadata,
    /// Errors that removed tasks from the graph, and tasks without a type. A graph with errors must not be planned.
    pub errors: Vec<Diagnostic>,
    origins: Origins,
    /// Names of generated tasks, which distribute the packages and scripts of plugins.
    helpers: Vec<String>,
}

impl PlannedGraph {
    /// Returns the generated tasks that the tasks in `selection` require, so that a caller who selects tasks need not list them.
    pub fn helpers_of(&self, selection: &[String]) -> Vec<String> {
        let helps = |task: &&Task| {
            let waiting = task.field("required_for").and_then(Json::as_array).into_iter().flatten();
            let mut waiting = waiting.filter_map(Json::as_str);
            waiting.any(|name| selection.iter().any(|selected| selected == name))
        };
        let helpers = self.tasks.iter().filter(|task| self.helpers.contains(&task.name));
        helpers.filter(helps).map(|task| task.name.clone()).collect()
    }
}

/// Provenance: the layer and source line of each field.
#[derive(Default)]
struct Origins {
    /// Graph layers in ascending precedence.
    layers: Vec<(String, GraphSource)>,
    /// For each task, layer index of each field, and of the highest-precedence layer that defines the task.
    set_by: HashMap<String, (HashMap<String, u32>, u32)>,
}

pub async fn planned_graph(
    graphs: &Graphs,
    session: &mut Session,
    cluster: &Cluster,
    graph_type: &GraphType,
) -> ServiceResult<PlannedGraph> {
    Ok(planned(graphs, session, cluster, graph_type).await?.0)
}

/// Returns the merged graph and the layers that it was merged from.
pub(super) async fn planned(
    graphs: &Graphs,
    session: &mut Session,
    cluster: &Cluster,
    graph_type: &GraphType,
) -> ServiceResult<(PlannedGraph, Layers)> {
    let layers = Layers::read(graphs, session, cluster, graph_type, LayerFilter::ALL).await?;
    let ids = layers.graph_ids();
    let sources = session.graph_sources(ids.iter().map(|(_, id)| *id)).await?;
    let graph = merged_graph(&layers, &ids, sources);
    Ok((graph, layers))
}

fn merged_graph(
    layers: &Layers,
    ids: &[(Source, GraphId)],
    mut sources: HashMap<GraphId, GraphSource>,
) -> PlannedGraph {
    let of_cluster = layers.layers();
    let merged = merge(&of_cluster, layers.rules());
    let mut source = |layer: &Source| {
        let id = ids.iter().find(|(known, _)| known == layer).map(|(_, id)| id);
        id.and_then(|id| sources.remove(id)).unwrap_or_default()
    };
    let sources = merged.sources.iter().map(|layer| (layer.label(), source(layer))).collect();
    let errors = layers.findings.iter().filter(|finding| finding.is_error()).cloned();
    let errors = errors.chain(untyped_tasks(&merged)).collect();
    PlannedGraph {
        helpers: layers.helpers.clone(),
        origins: Origins::new(&merged, sources),
        tasks: merged.tasks.iter().map(MergedTask::to_task).collect(),
        metadata: merged.metadata.metadata,
        errors,
    }
}

impl Origins {
    fn new(merged: &MergedGraph<'_>, layers: Vec<(String, GraphSource)>) -> Self {
        let of_task = |task: &MergedTask<'_>| {
            let fields = task.fields().map(|field| (field.name.to_owned(), field.set_by)).collect();
            (task.name.to_owned(), (fields, task.defined_by().next_back().unwrap_or_default()))
        };
        Self { layers, set_by: merged.tasks.iter().map(of_task).collect() }
    }
}

impl PlannedGraph {
    /// Returns the label of the layer that sets a task field.
    pub fn layer(&self, task: &str, field: &str) -> Option<&str> {
        let (fields, _) = self.origins.set_by.get(task)?;
        let (layer, _) = self.origins.layers.get(*fields.get(field)? as usize)?;
        Some(layer)
    }

    /// Returns the layer and source line of a task field such as `cross_depends[0].role`.
    pub fn provenance(&self, task: &str, path: &str) -> Option<ProblemOrigin> {
        let (fields, strongest) = self.origins.set_by.get(task)?;
        let field = canonical_field(path.split(['.', '[']).next().unwrap_or_default());
        let layer_idx = fields.get(field).unwrap_or(strongest);
        let (layer, source) = self.origins.layers.get(*layer_idx as usize)?;
        let (file, line) = (source.file.clone(), source.line(task, path));
        Some(ProblemOrigin { layer: Some(layer.clone()), file, line })
    }
}
