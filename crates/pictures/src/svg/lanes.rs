//! Lanes: one column per cluster.

use std::collections::{BTreeSet, HashMap};

use crate::drawing::Diagram;

pub(super) struct Lanes {
    /// Cluster names in order of first occurrence; a single empty name if there are no clusters.
    pub(super) names: Vec<String>,
    /// For each vertex, its lane.
    pub(super) of: Vec<u32>,
}

/// Maximum number of lanes. More lanes would be too narrow, so a single lane is used instead.
const LANES_MAX: usize = 16;

impl Lanes {
    pub(super) fn new(drawing: &Diagram) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut names: Vec<String> = Vec::new();
        let mut of = Vec::with_capacity(drawing.vertices.len());
        for vertex in &drawing.vertices {
            let cluster = vertex.cluster.as_deref().unwrap_or_default();
            of.push(*numbers.entry(cluster).or_insert_with(|| {
                names.push(cluster.to_owned());
                names.len() as u32 - 1
            }));
        }
        if names.is_empty() {
            names.push(String::new());
        }
        Self { names, of }
    }
}

/// Reports whether there are too many clusters for one lane each.
pub(super) fn are_too_many(drawing: &Diagram) -> bool {
    let clusters: BTreeSet<&str> =
        drawing.vertices.iter().filter_map(|vertex| vertex.cluster.as_deref()).collect();
    clusters.len() > LANES_MAX
}
