//! Clusters side by side, each in a lane of its own.

use std::collections::{BTreeSet, HashMap};

use crate::drawing::Drawing;

pub(super) struct Lanes {
    /// In the order in which they first occur; one without a name if there are no clusters.
    pub(super) names: Vec<String>,
    /// By vertex.
    pub(super) of: Vec<u32>,
}

/// With more clusters than these, lanes would be too narrow: there is only one.
const LANES_MAX: usize = 16;

impl Lanes {
    pub(super) fn new(drawing: &Drawing) -> Self {
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

/// Whether there are too many clusters to give each a lane.
pub(super) fn are_too_many(drawing: &Drawing) -> bool {
    let clusters: BTreeSet<&str> =
        drawing.vertices.iter().filter_map(|vertex| vertex.cluster.as_deref()).collect();
    clusters.len() > LANES_MAX
}
