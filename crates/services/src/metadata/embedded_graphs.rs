//! Graphs embedded in a release or plugin: `graphs: [{type, …}]`, and `deployment_tasks` for the default graph.

use stoker_manifest::graph::GraphBody;
use stoker_model::{GraphType, Owner, Task};
use stoker_store::{StoreError, WriteTransaction};

/// Graphs in the document of an owner that may not be stored yet, at most one per type.
#[derive(Debug, Default)]
pub struct EmbeddedGraphs(Vec<(GraphType, GraphBody)>);

impl EmbeddedGraphs {
    /// Combines both keys. The reader of the document has refused two definitions of one graph.
    pub fn new(graphs: Option<Vec<GraphBody>>, deployment_tasks: Option<Vec<Task>>) -> Self {
        let graphs = graphs.into_iter().flatten();
        let mut graphs: Vec<(GraphType, GraphBody)> =
            graphs.map(|body| (body.graph_type.clone().unwrap_or_default(), body)).collect();
        let Some(tasks) = deployment_tasks else { return Self(graphs) };
        match graphs.iter_mut().find(|(graph_type, _)| graph_type.as_str() == GraphType::DEFAULT) {
            None => {
                let body = GraphBody { tasks: Some(tasks), ..GraphBody::default() };
                graphs.insert(0, (GraphType::default(), body));
            }
            Some((_, body)) => _ = body.tasks.get_or_insert(tasks),
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
