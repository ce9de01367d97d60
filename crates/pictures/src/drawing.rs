//! What is drawn.

use crate::looks::Looks;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// What the picture shows, for those who cannot see it.
    pub title: String,
    pub vertices: Vec<Vertex>,
    /// Places in the list of vertices: from, to. Each once.
    pub edges: Vec<(u32, u32)>,
    /// Vertices that should be here but would be too many. Every picture says so.
    pub n_left_out: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertex {
    /// Unique in the drawing.
    pub id: String,
    /// Unique in its cluster.
    pub label: String,
    pub looks: Looks,
    /// Vertices of one cluster are drawn together, for example those of a node.
    pub cluster: Option<String>,
}

impl Drawing {
    /// The vertices for which something holds, and the edges between them.
    pub fn only(&self, mut is_kept: impl FnMut(u32, &Vertex) -> bool) -> Self {
        let mut numbers = vec![None; self.vertices.len()];
        let mut vertices = Vec::new();
        for (vertex_idx, vertex) in (0_u32..).zip(&self.vertices) {
            if is_kept(vertex_idx, vertex) {
                numbers[vertex_idx as usize] = Some(vertices.len() as u32);
                vertices.push(vertex.clone());
            }
        }
        let edges = self.edges.iter().filter_map(|(from, to)| {
            Some((numbers.get(*from as usize).copied()??, numbers.get(*to as usize).copied()??))
        });
        Self { title: self.title.clone(), edges: edges.collect(), vertices, n_left_out: self.n_left_out }
    }

    /// What is left out, in words; nothing if nothing is.
    pub(crate) fn remark(&self) -> Option<String> {
        (self.n_left_out > 0).then(|| {
            format!("{} more are not drawn: choose some tasks or nodes to see them", self.n_left_out)
        })
    }

    /// Only some vertices and what is directly before them.
    pub fn with_parents(&self, is_meant: impl Fn(&Vertex) -> bool) -> Self {
        let mut is_kept: Vec<bool> = self.vertices.iter().map(&is_meant).collect();
        let is_meant = is_kept.clone();
        for (from, to) in &self.edges {
            is_kept[*from as usize] |= is_meant[*to as usize];
        }
        self.only(|vertex_idx, _| is_kept[vertex_idx as usize])
    }
}
