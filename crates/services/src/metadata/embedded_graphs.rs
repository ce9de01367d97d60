//! Graphs embedded in a release or plugin: `graphs: [{type, …}]`, and `deployment_tasks` for the default graph.

use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::codes;
use stoker_manifest::graph::{GraphBody, read_node, read_tasks_node};
use stoker_manifest::reader::{Fields, list_of, string};
use stoker_model::{ErrorChain, GraphType, Owner};
use stoker_store::{StoreError, WriteTransaction};
use stoker_yaml::Node;

/// Graphs in the document of an owner that may not be stored yet, at most one per type.
#[derive(Debug, Default)]
pub struct EmbeddedGraphs(Vec<(GraphType, GraphBody)>);

impl EmbeddedGraphs {
    /// Reads both keys of the document of a release, whose tasks all need a type: no layer is below it.
    pub fn read_release(fields: &mut Fields<'_, '_>, text: &str) -> Self {
        let node = fields.node();
        for key in ["deployment_tasks", "graphs"] {
            let Some(value) = node.get(key) else { continue };
            fields.problems().in_key(key, |problems| require_types(value, problems));
        }
        Self::read(fields, text)
    }

    /// Reads both keys; `text` is the whole document.
    pub fn read(fields: &mut Fields<'_, '_>, text: &str) -> Self {
        let graphs = fields.optional("graphs", |node, problems| read_graphs(node, text, problems));
        let mut graphs = graphs.unwrap_or_default();
        let span = fields.node().get("deployment_tasks").map(|node| node.span);
        let tasks =
            fields.optional("deployment_tasks", |node, problems| read_tasks_node(node, text, problems));
        let Some((tasks, span)) = tasks.zip(span) else { return Self(graphs) };
        let default = graphs.iter_mut().find(|(graph_type, _)| graph_type.as_str() == GraphType::DEFAULT);
        match default {
            None => {
                let body = GraphBody { tasks: Some(tasks), ..GraphBody::default() };
                graphs.insert(0, (GraphType::default(), body));
            }
            Some((_, body)) if body.tasks.is_none() => body.tasks = Some(tasks),
            // Some packagers write both keys; an empty list overrides nothing.
            Some(_) if tasks.is_empty() => {}
            Some(_) => fields.problems().in_key("deployment_tasks", |problems| {
                let message = "both `deployment_tasks` and `graphs` define the tasks of graph `default`";
                problems.error(codes::CONFLICT, span, message).set_help("remove one of them");
            }),
        }
        Self(graphs)
    }

    /// Creates the graphs of a new owner, which always has a default graph.
    pub async fn create(mut self, writing: &mut WriteTransaction, owner: Owner) -> Result<(), StoreError> {
        if !self.0.iter().any(|(graph_type, _)| graph_type.as_str() == GraphType::DEFAULT) {
            self.0.insert(0, (GraphType::default(), GraphBody::default()));
        }
        for (graph_type, body) in self.0 {
            let (metadata, tasks) = body.into_parts();
            writing.graph_create(owner, &graph_type, &metadata, &tasks).await?;
        }
        Ok(())
    }

    /// Updates the graphs of an owner; graphs of other types are unchanged.
    pub async fn apply(self, writing: &mut WriteTransaction, owner: Owner) -> Result<(), StoreError> {
        for (graph_type, body) in self.0 {
            if let Some(graph) = writing.graph_find(owner, &graph_type).await? {
                let mut metadata = graph.metadata.clone();
                let tasks = body.apply(&mut metadata);
                writing.graph_update(graph.id, graph.generation, &metadata, tasks.as_deref()).await?;
            } else {
                let (metadata, tasks) = body.into_parts();
                writing.graph_create(owner, &graph_type, &metadata, &tasks).await?;
            }
        }
        Ok(())
    }

    /// Returns the graph types, for the audit log.
    pub fn types(&self) -> Vec<String> {
        self.0.iter().map(|(graph_type, _)| graph_type.to_string()).collect()
    }
}

fn read_graphs(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<Vec<(GraphType, GraphBody)>> {
    let bodies = list_of(|node, problems| graph(node, text, problems))(node, problems)?;
    let mut graphs: Vec<(GraphType, GraphBody)> = Vec::with_capacity(bodies.len());
    for (item_idx, body) in bodies.into_iter().enumerate() {
        let graph_type = body.graph_type.clone().unwrap_or_default();
        if graphs.iter().any(|(known, _)| *known == graph_type) {
            let span = node.as_seq().map_or(node.span, |items| items[item_idx].span);
            problems.in_item(item_idx, |problems| {
                problems.error(codes::CONFLICT, span, format!("duplicate graph of type `{graph_type}`"));
            });
        }
        graphs.push((graph_type, body));
    }
    Some(graphs)
}

/// Reports tasks without a type, in a list of tasks or of graphs.
fn require_types(list: &Node, problems: &mut Diagnostics) {
    for (item_idx, item) in list.as_seq().into_iter().flatten().enumerate() {
        problems.in_item(item_idx, |problems| match (item.get("tasks"), item.get("id")) {
            (Some(tasks), None) => problems.in_key("tasks", |problems| require_types(tasks, problems)),
            (_, Some(id)) if item.get("type").is_none() => {
                let task = id.as_str().map(|id| format!("task {}: ", quoted(id))).unwrap_or_default();
                let message =
                    format!("{task}`type` is missing, and no layer is below the release that could set it");
                problems.in_key("type", |problems| _ = problems.error(codes::MISSING, item.span, message));
            }
            _ => {}
        });
    }
}

fn graph(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<GraphBody> {
    let body = read_node(node, text, problems)?;
    if body.owner.is_some() {
        let message = "`model` and `model_id` are not allowed here: the graph belongs to the document it is embedded in";
        problems.error(codes::CONFLICT, node.span, message);
    }
    Some(body)
}

/// Reads a graph type.
pub fn graph_type(node: &Node, problems: &mut Diagnostics) -> Option<GraphType> {
    let name = string(node, problems)?;
    GraphType::new(&name)
        .map_err(|error| _ = problems.error(codes::FORM, node.span, ErrorChain(&error).to_string()))
        .ok()
}
