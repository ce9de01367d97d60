//! SVG with a built-in layered layout (Sugiyama style).
//!
//! Vertices are assigned to layers, each below all its predecessors and with bounded width (`layers.rs`).
//! Within a layer they are ordered to minimize crossings, with clusters side by side (`ordering.rs`), and
//! aligned with their neighbours (`positions.rs`). Edges implied by others are omitted for clarity.
//!
//! The size of the diagram is bounded; omitted parts are stated in it.

mod lanes;
mod layers;
mod ordering;
mod positions;
mod text;
mod write;

use std::fmt;

use crate::drawing::Diagram;
use lanes::Lanes;
use layers::Layers;
use positions::Positions;

/// A drawing as an SVG document.
pub struct Svg<'d>(pub &'d Diagram);

/// Maximum number of vertices in an SVG; larger diagrams are not readable.
pub const VERTICES_MAX: usize = 2_000;

impl fmt::Display for Svg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut drawing = self.0.filter_vertices(|vertex_idx, _| (vertex_idx as usize) < VERTICES_MAX);
        drawing.n_omitted += self.0.vertices.len() - drawing.vertices.len();
        if lanes::are_too_many(&drawing) {
            name_clusters(&mut drawing);
        }
        let lanes = Lanes::new(&drawing);
        let layers = Layers::new(&drawing, &lanes);
        let order = ordering::order_cells(&layers, lanes);
        let positions = Positions::new(&drawing, &layers, order);
        write::document(f, &drawing, &layers, &positions)
    }
}

/// Appends the cluster to each label, for diagrams without lanes.
fn name_clusters(drawing: &mut Diagram) {
    for vertex in &mut drawing.vertices {
        if let Some(cluster) = vertex.cluster.take() {
            vertex.label = format!("{}@{cluster}", vertex.label);
        }
    }
}
