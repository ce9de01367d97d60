//! Graphs as pictures: DOT, SVG and Mermaid of one [`Drawing`].
//!
//! A drawing is vertices and edges with labels and looks. It knows no plan and no run: whoever has one says what is to
//! be drawn. [`definitions()`] draws the tasks of a graph, as they are written.
//!
//! Names come from users. Whatever they contain, what is written is well formed, and means the same name again.

mod definitions;
mod dot;
mod drawing;
mod looks;
mod mermaid;
mod svg;

pub use definitions::{Filter, definitions};
pub use dot::Dot;
pub use drawing::{Drawing, Vertex};
pub use looks::Looks;
pub use mermaid::Mermaid;
pub use svg::{Svg, VERTICES_MAX};
