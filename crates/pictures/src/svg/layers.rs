//! Assignment of vertices to layers.

use std::collections::HashMap;

use super::lanes::Lanes;
use crate::drawing::Diagram;

/// A vertex in a layer, or a point where a long edge passes through one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Vertex(u32),
    /// A pass-through point of this edge of [`Layers::edges`].
    Pass(u32),
}

#[derive(Debug)]
pub(super) struct Layers {
    /// Vertices first, then pass-through points.
    pub(super) cells: Vec<Cell>,
    /// Indexed by cell.
    pub(super) layer_of: Vec<u32>,
    pub(super) n_rows: usize,
    /// Drawn edges, each as the list of cells it leads through.
    pub(super) edges: Vec<Vec<u32>>,
    /// Number of edges not drawn because others imply them or because they close a cycle.
    pub(super) n_implied: usize,
    /// Number of further edges not drawn because there are too many.
    pub(super) n_too_many: usize,
    /// For each cell, its neighbours in the layer above and in the layer below.
    pub(super) above: Vec<Vec<u32>>,
    pub(super) below: Vec<Vec<u32>>,
}

/// Maximum number of vertices of a lane in one layer; further vertices move one layer down. A diagram that is
/// too wide is worse than one that is too long.
const WIDTH_MAX: u32 = 6;
/// Maximum width if there is a single lane.
const ONLY_WIDTH_MAX: u32 = 12;

/// Maximum number of drawn edges; more are not distinguishable.
const EDGES_MAX: usize = 10_000;
/// Maximum number of cells for routing long edges around vertices; beyond it edges are drawn straight to
/// bound the layout time.
const PASSES_MAX: usize = 20_000;

impl Layers {
    pub(super) fn new(drawing: &Diagram, lanes: &Lanes) -> Self {
        let n_vertices = drawing.vertices.len();
        let edges = without_cycles(n_vertices, &drawing.edges);
        let layer_of = limit_width(&longest_paths(n_vertices, &edges), &edges, lanes);
        let mut reduced = transitive_reduction(n_vertices, &edges);
        let (n_implied, n_too_many) =
            (drawing.edges.len() - reduced.len(), reduced.len().saturating_sub(EDGES_MAX));
        reduced.truncate(EDGES_MAX);
        let n_rows = layer_of.iter().max().map_or(0, |last| *last as usize + 1);
        let mut layers = Self {
            cells: (0..n_vertices as u32).map(Cell::Vertex).collect(),
            layer_of,
            n_rows,
            edges: Vec::with_capacity(reduced.len()),
            n_implied,
            n_too_many,
            above: Vec::new(),
            below: Vec::new(),
        };
        for (from, to) in reduced {
            layers.add(from, to);
        }
        layers.above = vec![Vec::new(); layers.cells.len()];
        layers.below = vec![Vec::new(); layers.cells.len()];
        for pair in layers.edges.iter().flat_map(|path| path.windows(2)) {
            layers.below[pair[0] as usize].push(pair[1]);
            layers.above[pair[1] as usize].push(pair[0]);
        }
        layers
    }

    fn add(&mut self, from: u32, to: u32) {
        let edge_idx = self.edges.len() as u32;
        let mut path = vec![from];
        let n_passes = self.cells.len();
        for layer in self.layer_of[from as usize] + 1..self.layer_of[to as usize] {
            if n_passes > PASSES_MAX {
                break;
            }
            path.push(self.cells.len() as u32);
            self.cells.push(Cell::Pass(edge_idx));
            self.layer_of.push(layer);
        }
        path.push(to);
        self.edges.push(path);
    }
}

/// Returns the edges without those that close a cycle, so that a first layer exists.
fn without_cycles(n_vertices: usize, edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); n_vertices];
    for (from, to) in edges.iter().filter(|(from, to)| (*from).max(*to) < n_vertices as u32) {
        after[*from as usize].push(*to);
    }
    // 0: unvisited, 1: on the current path, 2: done.
    let mut state = vec![0_u8; n_vertices];
    let mut reduced = Vec::new();
    for start in 0..n_vertices as u32 {
        if state[start as usize] != 0 {
            continue;
        }
        state[start as usize] = 1;
        let mut path = vec![(start, 0)];
        while let Some((vertex, n_done)) = path.last_mut() {
            let vertex = *vertex;
            let Some(target) = after[vertex as usize].get(*n_done).copied() else {
                state[vertex as usize] = 2;
                path.pop();
                continue;
            };
            *n_done += 1;
            if state[target as usize] != 1 {
                reduced.push((vertex, target));
            }
            if state[target as usize] == 0 {
                state[target as usize] = 1;
                path.push((target, 0));
            }
        }
    }
    reduced.sort_unstable();
    reduced.dedup();
    reduced
}

/// Returns the topological order of the vertices, and the successors of each.
fn topological_order(n_vertices: usize, edges: &[(u32, u32)]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); n_vertices];
    let mut n_before = vec![0_u32; n_vertices];
    for (from, to) in edges {
        after[*from as usize].push(*to);
        n_before[*to as usize] += 1;
    }
    let mut order: Vec<u32> =
        (0..n_vertices as u32).filter(|vertex| n_before[*vertex as usize] == 0).collect();
    let mut n_done = 0;
    while let Some(vertex) = order.get(n_done).copied() {
        n_done += 1;
        for target in &after[vertex as usize] {
            n_before[*target as usize] -= 1;
            if n_before[*target as usize] == 0 {
                order.push(*target);
            }
        }
    }
    (order, after)
}

fn longest_paths(n_vertices: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let (order, after) = topological_order(n_vertices, edges);
    let mut layer_of = vec![0_u32; n_vertices];
    for vertex in &order {
        for target in &after[*vertex as usize] {
            layer_of[*target as usize] = layer_of[*target as usize].max(layer_of[*vertex as usize] + 1);
        }
    }
    // Vertices without predecessors move down next to their successors, which shortens edges.
    for vertex in &order {
        let nearest = after[*vertex as usize].iter().map(|target| layer_of[*target as usize]).min();
        if let (0, Some(nearest)) = (layer_of[*vertex as usize], nearest) {
            layer_of[*vertex as usize] = nearest - 1;
        }
    }
    layer_of
}

/// Moves vertices down until no layer exceeds the maximum width.
fn limit_width(layer_of: &[u32], edges: &[(u32, u32)], lanes: &Lanes) -> Vec<u32> {
    let width_max = if lanes.names.len() == 1 { ONLY_WIDTH_MAX } else { WIDTH_MAX };
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); layer_of.len()];
    for (from, to) in edges {
        before[*to as usize].push(*from);
    }
    let mut order: Vec<u32> = (0..layer_of.len() as u32).collect();
    order.sort_by_key(|vertex| layer_of[*vertex as usize]);
    let mut moved = layer_of.to_vec();
    let mut n_in: HashMap<(u32, u32), u32> = HashMap::new();
    for vertex in order {
        let above = before[vertex as usize].iter().map(|other| moved[*other as usize] + 1).max();
        let mut layer = above.unwrap_or(layer_of[vertex as usize]);
        let lane = lanes.of[vertex as usize];
        while n_in.get(&(layer, lane)).is_some_and(|n_in| *n_in >= width_max) {
            layer += 1;
        }
        *n_in.entry((layer, lane)).or_default() += 1;
        moved[vertex as usize] = layer;
    }
    moved
}

/// Removes edges that a longer path implies (transitive reduction).
fn transitive_reduction(n_vertices: usize, edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let (order, after) = topological_order(n_vertices, edges);
    let n_words = n_vertices.div_ceil(64);
    // By vertex, a bit set of the vertices reachable from it.
    let mut reached = vec![0_u64; n_vertices * n_words];
    let mut position = vec![0_u32; n_vertices];
    for (at, vertex) in (0_u32..).zip(&order) {
        position[*vertex as usize] = at;
    }
    let mut reduced = Vec::new();
    for vertex in order.iter().rev() {
        let mut own = vec![0_u64; n_words];
        // The nearest target comes first: vertices reachable through it need no separate edge.
        let mut targets = after[*vertex as usize].clone();
        targets.sort_unstable_by_key(|target| position[*target as usize]);
        for target in targets {
            let (word, bit) = (target as usize / 64, 1_u64 << (target % 64));
            if own[word] & bit == 0 {
                reduced.push((*vertex, target));
                let beyond = &reached[target as usize * n_words..(target as usize + 1) * n_words];
                own.iter_mut().zip(beyond).for_each(|(own, beyond)| *own |= beyond);
                own[word] |= bit;
            }
        }
        reached[*vertex as usize * n_words..(*vertex as usize + 1) * n_words].copy_from_slice(&own);
    }
    reduced.sort_unstable();
    reduced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implied_and_cyclic_edges_are_removed() {
        let edges = [(0, 1), (1, 2), (0, 2), (2, 0), (3, 3), (3, 2)];
        let without_cycles = without_cycles(4, &edges);
        assert_eq!(without_cycles, [(0, 1), (0, 2), (1, 2), (3, 2)]);
        assert_eq!(transitive_reduction(4, &without_cycles), [(0, 1), (1, 2), (3, 2)]);
        assert_eq!(longest_paths(4, &without_cycles), [0, 1, 2, 1]);
    }

    #[test]
    fn wide_layers_are_split() {
        let lanes = Lanes { names: vec!["a".to_owned(), "b".to_owned()], of: vec![0; 20] };
        let edges = [(0, 19)];
        let layers = limit_width(&longest_paths(20, &edges), &edges, &lanes);
        assert!(
            (0..4).all(|layer| layers.iter().filter(|other| **other == layer).count() <= 6),
            "{layers:?}"
        );
        assert!(layers[19] > layers[0]);
    }
}
