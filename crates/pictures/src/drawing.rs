//! The abstract diagram that all output formats render.

use crate::appearance::Appearance;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagram {
    /// Accessible title of the diagram.
    pub title: String,
    pub vertices: Vec<Vertex>,
    /// Pairs of indices into the list of vertices, source and target, without duplicates.
    pub edges: Vec<(u32, u32)>,
    /// Number of omitted vertices. Every output format states it.
    pub n_omitted: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertex {
    /// Vertex ID, unique in the drawing.
    pub id: String,
    /// Vertex label, unique in its cluster of vertices.
    pub label: String,
    pub appearance: Appearance,
    /// Group of the vertex, for example its node. Vertices of one group are drawn together.
    pub cluster: Option<String>,
}

impl Diagram {
    /// Returns the vertices that satisfy a predicate, and the edges between them.
    pub fn filter_vertices(&self, mut is_included: impl FnMut(u32, &Vertex) -> bool) -> Self {
        let mut numbers = vec![None; self.vertices.len()];
        let mut vertices = Vec::new();
        for (vertex_idx, vertex) in (0_u32..).zip(&self.vertices) {
            if is_included(vertex_idx, vertex) {
                numbers[vertex_idx as usize] = Some(vertices.len() as u32);
                vertices.push(vertex.clone());
            }
        }
        let edges = self.edges.iter().filter_map(|(from, to)| {
            Some((numbers.get(*from as usize).copied()??, numbers.get(*to as usize).copied()??))
        });
        Self { title: self.title.clone(), edges: edges.collect(), vertices, n_omitted: self.n_omitted }
    }

    /// Returns a note about omitted vertices, if there are any.
    pub(crate) fn omission_note(&self) -> Option<String> {
        (self.n_omitted > 0).then(|| {
            format!("{} more vertices are not drawn; select tasks or nodes to see them", self.n_omitted)
        })
    }

    /// Returns the vertices that satisfy a predicate and their direct predecessors.
    pub fn with_predecessors(&self, is_selected: impl Fn(&Vertex) -> bool) -> Self {
        let mut is_included: Vec<bool> = self.vertices.iter().map(&is_selected).collect();
        let is_selected = is_included.clone();
        for (from, to) in &self.edges {
            is_included[*from as usize] |= is_selected[*to as usize];
        }
        self.filter_vertices(|vertex_idx, _| is_included[vertex_idx as usize])
    }
}
