//! Diagrams of graphs: DOT, SVG and Mermaid from one [`Diagram`].
//!
//! A diagram consists of vertices and edges with labels and appearances. It is independent of plans and runs;
//! callers decide what to draw. [`draw_definitions`] draws the task definitions of a graph.
//!
//! Names are untrusted user input. For any name the output is well formed, and the name is escaped without
//! loss.

mod appearance;
mod definitions;
mod dot;
mod drawing;
mod mermaid;
mod svg;

pub use appearance::Appearance;
pub use definitions::{DefinitionFilter, FilterError, draw_definitions};
pub use dot::Dot;
pub use drawing::{Diagram, Vertex};
pub use mermaid::Mermaid;
pub use svg::{Svg, VERTICES_MAX};
