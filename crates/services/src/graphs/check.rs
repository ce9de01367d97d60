//! Findings of merged graphs, cached: a check of a large graph takes up to a second, and most plans repeat a graph.

use std::collections::VecDeque;
use std::io::Write as _;
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_diagnostics::{Diagnostic, Severity};
use stoker_graph::{GraphCheckOptions, Scope, check, codes, merge};
use stoker_model::{Cluster, GraphType};
use stoker_store::Session;

use super::Graphs;
use super::layers::{LayerFilter, Layers};
use super::planned::{PlannedGraph, planned};
use crate::error::ServiceResult;

/// Number of cached graphs. Clusters of one release without layers of their own share an entry.
const CACHED_MAX: usize = 32;

/// Findings by content of the graph, so that entries need no invalidation.
#[derive(Default)]
pub struct CheckCache(Mutex<VecDeque<(blake3::Hash, Arc<[Diagnostic]>)>>);

impl CheckCache {
    fn get(&self, key: &blake3::Hash) -> Option<Arc<[Diagnostic]>> {
        let mut cached = self.0.lock();
        let idx = cached.iter().position(|(known, _)| known == key)?;
        let entry = cached.remove(idx)?;
        let findings = Arc::clone(&entry.1);
        cached.push_front(entry);
        Some(findings)
    }

    fn put(&self, key: blake3::Hash, findings: Arc<[Diagnostic]>) {
        let mut cached = self.0.lock();
        cached.push_front((key, findings));
        cached.truncate(CACHED_MAX);
    }
}

/// The layers of a cluster's graph and the names of its roles and tags.
pub struct GraphCheck {
    graphs: Graphs,
    layers: Layers,
    places: Vec<String>,
}

/// Reads the merged graph of a cluster for planning, and what its check needs.
pub async fn checked_graph(
    graphs: &Graphs,
    session: &mut Session,
    cluster: &Cluster,
    graph_type: &GraphType,
) -> ServiceResult<(PlannedGraph, GraphCheck)> {
    let (graph, layers) = planned(graphs, session, cluster, graph_type).await?;
    let places = layers.places(session, cluster).await?;
    Ok((graph, GraphCheck { graphs: graphs.clone(), layers, places }))
}

impl GraphCheck {
    pub async fn read(
        graphs: &Graphs,
        session: &mut Session,
        cluster: &Cluster,
        graph_type: &GraphType,
    ) -> ServiceResult<Self> {
        let layers = Layers::read(graphs, session, cluster, graph_type, LayerFilter::ALL).await?;
        let places = layers.places(session, cluster).await?;
        Ok(Self { graphs: graphs.clone(), layers, places })
    }

    /// Returns all errors and warnings of the merged graph. CPU-bound.
    pub fn findings(&self) -> Vec<Diagnostic> {
        let key = self.key();
        let findings = self.graphs.checks.get(&key).unwrap_or_else(|| {
            let library = self.graphs.library();
            let options = GraphCheckOptions {
                roles_and_tags: Some(&self.places),
                library: Some(&library),
                parameters: Some(stoker_tasks::check_written),
                ..GraphCheckOptions::new(Scope::Merged)
            };
            let merged = merge(&self.layers.layers(), self.layers.rules());
            let findings: Arc<[Diagnostic]> = check(&merged, &options).into();
            self.graphs.checks.put(key, Arc::clone(&findings));
            findings
        });
        self.layers.findings.iter().chain(&*findings).cloned().collect()
    }

    /// Returns the warnings that planning does not report itself.
    pub(crate) fn warnings(&self) -> Vec<Diagnostic> {
        let mut findings = self.findings();
        findings.retain(|finding| {
            finding.severity == Severity::Warning && !codes::IN_PLANS.contains(&finding.code.as_ref())
        });
        findings
    }

    /// Digest of everything that the findings depend on. The functions of expressions are those of the process.
    fn key(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        // Writing to a hasher does not fail.
        _ = write!(hasher, "{:?}{:?}", self.layers.rules(), self.places);
        for layer in self.layers.layers() {
            _ = write!(hasher, "{:?}{:?}", layer.source, layer.metadata);
            for task in &layer.tasks {
                _ = serde_json::to_writer(&mut hasher, &(&task.name, &task.fields));
            }
        }
        hasher.finalize()
    }
}
