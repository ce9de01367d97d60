//! Which vertex stands in which layer.

use std::collections::HashMap;

use super::lanes::Lanes;
use crate::drawing::Drawing;

/// A vertex in a layer, or a place where a long edge passes through one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Vertex(u32),
    /// Belongs to this edge of [`Layers::edges`].
    Pass(u32),
}

#[derive(Debug)]
pub(super) struct Layers {
    /// Cells are numbered: vertices first, then places where edges pass.
    pub(super) cells: Vec<Cell>,
    /// By cell.
    pub(super) layer_of: Vec<u32>,
    pub(super) n_rows: usize,
    /// Edges that are drawn, as the cells they lead through.
    pub(super) edges: Vec<Vec<u32>>,
    /// How many edges are not drawn, because others imply them or because they close a circle.
    pub(super) n_implied: usize,
    /// How many more are not drawn, because there are too many.
    pub(super) n_too_many: usize,
    /// By cell, its neighbours one layer up and one layer down.
    pub(super) above: Vec<Vec<u32>>,
    pub(super) below: Vec<Vec<u32>>,
}

/// Vertices of a lane in one layer. More of them go one layer down: a picture that is too wide is worse than one that is
/// too long.
const WIDTH_MAX: u32 = 6;
/// The same if there is only one lane.
const ONLY_WIDTH_MAX: u32 = 12;

/// More edges than these are a black surface.
const EDGES_MAX: usize = 10_000;
/// Long edges beyond this are drawn straight: making way for them all would cost more than it helps.
const PASSES_MAX: usize = 20_000;

impl Layers {
    pub(super) fn new(drawing: &Drawing, lanes: &Lanes) -> Self {
        let n_vertices = drawing.vertices.len();
        let edges = forward(n_vertices, &drawing.edges);
        let layer_of = not_too_wide(&longest_paths(n_vertices, &edges), &edges, lanes);
        let mut kept = without_implied(n_vertices, &edges);
        let (n_implied, n_too_many) =
            (drawing.edges.len() - kept.len(), kept.len().saturating_sub(EDGES_MAX));
        kept.truncate(EDGES_MAX);
        let n_rows = layer_of.iter().max().map_or(0, |last| *last as usize + 1);
        let mut layers = Self {
            cells: (0..n_vertices as u32).map(Cell::Vertex).collect(),
            layer_of,
            n_rows,
            edges: Vec::with_capacity(kept.len()),
            n_implied,
            n_too_many,
            above: Vec::new(),
            below: Vec::new(),
        };
        for (from, to) in kept {
            layers.add(from, to);
        }
        layers.above = vec![Vec::new(); layers.cells.len()];
        layers.below = vec![Vec::new(); layers.cells.len()];
        for pair in layers.edges.iter().flat_map(|way| way.windows(2)) {
            layers.below[pair[0] as usize].push(pair[1]);
            layers.above[pair[1] as usize].push(pair[0]);
        }
        layers
    }

    fn add(&mut self, from: u32, to: u32) {
        let edge_idx = self.edges.len() as u32;
        let mut way = vec![from];
        let n_passes = self.cells.len();
        for layer in self.layer_of[from as usize] + 1..self.layer_of[to as usize] {
            if n_passes > PASSES_MAX {
                break;
            }
            way.push(self.cells.len() as u32);
            self.cells.push(Cell::Pass(edge_idx));
            self.layer_of.push(layer);
        }
        way.push(to);
        self.edges.push(way);
    }
}

/// Edges without those that close a circle, so that there is a first layer.
fn forward(n_vertices: usize, edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); n_vertices];
    for (from, to) in edges.iter().filter(|(from, to)| (*from).max(*to) < n_vertices as u32) {
        after[*from as usize].push(*to);
    }
    // 0 is unseen, 1 on the way, 2 done.
    let mut seen = vec![0_u8; n_vertices];
    let mut kept = Vec::new();
    for start in 0..n_vertices as u32 {
        if seen[start as usize] != 0 {
            continue;
        }
        seen[start as usize] = 1;
        let mut way = vec![(start, 0)];
        while let Some((vertex, n_done)) = way.last_mut() {
            let vertex = *vertex;
            let Some(target) = after[vertex as usize].get(*n_done).copied() else {
                seen[vertex as usize] = 2;
                way.pop();
                continue;
            };
            *n_done += 1;
            if seen[target as usize] != 1 {
                kept.push((vertex, target));
            }
            if seen[target as usize] == 0 {
                seen[target as usize] = 1;
                way.push((target, 0));
            }
        }
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Vertices so that every edge leads forward, and what is after each.
fn sorted(n_vertices: usize, edges: &[(u32, u32)]) -> (Vec<u32>, Vec<Vec<u32>>) {
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
    let (order, after) = sorted(n_vertices, edges);
    let mut layer_of = vec![0_u32; n_vertices];
    for vertex in &order {
        for target in &after[*vertex as usize] {
            layer_of[*target as usize] = layer_of[*target as usize].max(layer_of[*vertex as usize] + 1);
        }
    }
    // What nothing is before comes down to what it is for, so that its edges are short.
    for vertex in &order {
        let nearest = after[*vertex as usize].iter().map(|target| layer_of[*target as usize]).min();
        if let (0, Some(nearest)) = (layer_of[*vertex as usize], nearest) {
            layer_of[*vertex as usize] = nearest - 1;
        }
    }
    layer_of
}

/// Moves vertices down until no layer is too wide.
fn not_too_wide(layer_of: &[u32], edges: &[(u32, u32)], lanes: &Lanes) -> Vec<u32> {
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

/// Edges without those that a longer way implies.
fn without_implied(n_vertices: usize, edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let (order, after) = sorted(n_vertices, edges);
    let n_words = n_vertices.div_ceil(64);
    // By vertex a bit for each vertex that can be reached from it.
    let mut reached = vec![0_u64; n_vertices * n_words];
    let mut place = vec![0_u32; n_vertices];
    for (at, vertex) in (0_u32..).zip(&order) {
        place[*vertex as usize] = at;
    }
    let mut kept = Vec::new();
    for vertex in order.iter().rev() {
        let mut own = vec![0_u64; n_words];
        // The nearest first: what is reached through it needs no edge of its own.
        let mut targets = after[*vertex as usize].clone();
        targets.sort_unstable_by_key(|target| place[*target as usize]);
        for target in targets {
            let (word, bit) = (target as usize / 64, 1_u64 << (target % 64));
            if own[word] & bit == 0 {
                kept.push((*vertex, target));
                let beyond = &reached[target as usize * n_words..(target as usize + 1) * n_words];
                own.iter_mut().zip(beyond).for_each(|(own, beyond)| *own |= beyond);
                own[word] |= bit;
            }
        }
        reached[*vertex as usize * n_words..(*vertex as usize + 1) * n_words].copy_from_slice(&own);
    }
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implied_edges_and_circles_go() {
        let edges = [(0, 1), (1, 2), (0, 2), (2, 0), (3, 3), (3, 2)];
        let forward = forward(4, &edges);
        assert_eq!(forward, [(0, 1), (0, 2), (1, 2), (3, 2)]);
        assert_eq!(without_implied(4, &forward), [(0, 1), (1, 2), (3, 2)]);
        assert_eq!(longest_paths(4, &forward), [0, 1, 2, 1]);
    }

    #[test]
    fn wide_layers_are_broken() {
        let lanes = Lanes { names: vec!["a".to_owned(), "b".to_owned()], of: vec![0; 20] };
        let edges = [(0, 19)];
        let layers = not_too_wide(&longest_paths(20, &edges), &edges, &lanes);
        assert!(
            (0..4).all(|layer| layers.iter().filter(|found| **found == layer).count() <= 6),
            "{layers:?}"
        );
        assert!(layers[19] > layers[0]);
    }
}
