//! SVG with a layout of our own.
//!
//! Vertices stand in layers, each below everything that is before it (`layers.rs`), and not too many
//! beside each other. In a layer they are ordered so that
//! few edges cross, clusters side by side (`ordering.rs`), and moved below what they come after (`placing.rs`). Edges
//! that others imply are left out: they would hide what matters.
//!
//! The picture is bounded: what is too much is left out, and the picture says so.

mod lanes;
mod layers;
mod ordering;
mod placing;
mod text;
mod write;

use std::fmt;

use crate::drawing::Drawing;
use lanes::Lanes;
use layers::Layers;
use placing::Placed;

/// A drawing as an SVG document.
pub struct Svg<'d>(pub &'d Drawing);

/// More vertices than these nobody can read: an SVG has no more.
pub const VERTICES_MAX: usize = 2_000;

impl fmt::Display for Svg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut drawing = self.0.only(|vertex_idx, _| (vertex_idx as usize) < VERTICES_MAX);
        drawing.n_left_out += self.0.vertices.len() - drawing.vertices.len();
        if lanes::are_too_many(&drawing) {
            name_clusters(&mut drawing);
        }
        let lanes = Lanes::new(&drawing);
        let layers = Layers::new(&drawing, &lanes);
        let order = ordering::ordered(&layers, lanes);
        let placed = Placed::new(&drawing, &layers, order);
        write::document(f, &drawing, &layers, &placed)
    }
}

/// Where no lane says so, the label says to which cluster a vertex belongs.
fn name_clusters(drawing: &mut Drawing) {
    for vertex in &mut drawing.vertices {
        if let Some(cluster) = vertex.cluster.take() {
            vertex.label = format!("{}@{cluster}", vertex.label);
        }
    }
}
