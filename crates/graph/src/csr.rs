//! A directed graph in compressed sparse row form, for a hundred to millions of vertices.
//!
//! Vertices are indices of one type. The edges of a vertex are sorted and distinct, so all results depend only on
//! the set of edges and not on their input order. No algorithm here recurses, so large graphs cannot overflow
//! the call stack.

use std::num::NonZeroU32;

use stoker_model::Idx;

/// Compressed rows: the targets of vertex `v` are `targets[offsets[v]..offsets[v + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr<V = u32> {
    offsets: Vec<u32>,
    targets: Vec<V>,
}

impl<V: Idx> Csr<V> {
    /// Creates a graph of `n_vertices` with these edges, given as pairs of source and target.
    ///
    /// A counting sort distributes the edges to their rows, then each row is sorted: rows are mostly short,
    /// so this is linear in practice, unlike sorting millions of edges at once.
    pub fn new(n_vertices: usize, edges: Vec<(V, V)>) -> Self {
        let mut ends = vec![0_u32; n_vertices + 1];
        for (from, _) in &edges {
            ends[from.index() + 1] += 1;
        }
        for vertex in 0..n_vertices {
            ends[vertex + 1] += ends[vertex];
        }
        // During distribution `ends[v]` advances from the start of row `v` to its end.
        let mut targets = vec![V::at(0); edges.len()];
        for (from, to) in edges {
            let position = &mut ends[from.index()];
            targets[*position as usize] = to;
            *position += 1;
        }
        let mut offsets = vec![0; n_vertices + 1];
        let (mut start, mut n_kept) = (0, 0);
        for vertex in 0..n_vertices {
            let end = ends[vertex] as usize;
            targets[start..end].sort_unstable();
            let row_start = n_kept;
            for at in start..end {
                if n_kept == row_start || targets[n_kept - 1] != targets[at] {
                    targets[n_kept] = targets[at];
                    n_kept += 1;
                }
            }
            offsets[vertex + 1] = n_kept as u32;
            start = end;
        }
        targets.truncate(n_kept);
        Self { offsets, targets }
    }

    pub fn n_vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn n_edges(&self) -> usize {
        self.targets.len()
    }

    pub fn targets(&self, vertex: V) -> &[V] {
        let row = vertex.index();
        &self.targets[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    fn vertices(&self) -> impl Iterator<Item = V> + use<V> {
        (0..self.n_vertices()).map(V::at)
    }

    /// Returns the same vertices with all edges reversed.
    pub fn reversed(&self) -> Self {
        Self::new(self.n_vertices(), self.edges().map(|(from, to)| (to, from)).collect())
    }

    pub fn edges(&self) -> impl Iterator<Item = (V, V)> {
        self.vertices().flat_map(|vertex| self.targets(vertex).iter().map(move |target| (vertex, *target)))
    }

    /// Returns the topological order; ties go to the smallest vertex. `None` if the graph has a cycle.
    pub fn topological_order(&self) -> Option<Vec<V>> {
        let mut n_before = self.n_predecessors();
        let free = |n_before: &[u32], vertex: V| n_before[vertex.index()] == 0;
        let mut ready: std::collections::BinaryHeap<std::cmp::Reverse<V>> =
            self.vertices().filter(|vertex| free(&n_before, *vertex)).map(std::cmp::Reverse).collect();
        let mut order = Vec::with_capacity(self.n_vertices());
        while let Some(std::cmp::Reverse(vertex)) = ready.pop() {
            order.push(vertex);
            for target in self.targets(vertex) {
                n_before[target.index()] -= 1;
                if free(&n_before, *target) {
                    ready.push(std::cmp::Reverse(*target));
                }
            }
        }
        (order.len() == self.n_vertices()).then_some(order)
    }

    /// Reports whether the graph has a cycle. Linear in the number of edges.
    pub fn has_cycle(&self) -> bool {
        let mut n_before = self.n_predecessors();
        let is_free = |vertex: &V| n_before[vertex.index()] == 0;
        let mut ready: Vec<V> = self.vertices().filter(is_free).collect();
        let mut n_done = 0;
        while let Some(vertex) = ready.pop() {
            n_done += 1;
            for target in self.targets(vertex) {
                n_before[target.index()] -= 1;
                if n_before[target.index()] == 0 {
                    ready.push(*target);
                }
            }
        }
        n_done < self.n_vertices()
    }

    /// Returns for each vertex the number of edges to it.
    fn n_predecessors(&self) -> Vec<u32> {
        let mut n_before = vec![0; self.n_vertices()];
        for target in &self.targets {
            n_before[target.index()] += 1;
        }
        n_before
    }

    /// Returns for each vertex whether it is reachable from the given vertices, which count as reachable
    /// themselves.
    pub fn reachable(&self, from: impl IntoIterator<Item = V>) -> Vec<bool> {
        let mut is_reached = vec![false; self.n_vertices()];
        let mut pending: Vec<V> = from.into_iter().collect();
        while let Some(vertex) = pending.pop() {
            if !std::mem::replace(&mut is_reached[vertex.index()], true) {
                pending.extend(self.targets(vertex));
            }
        }
        is_reached
    }

    /// Returns the strongly connected components that contain a cycle: more than one vertex, or a vertex with
    /// an edge to itself. Sorted, with sorted vertices.
    pub fn cyclic_components(&self) -> Vec<Vec<V>> {
        let mut components = self.components_with_cycles();
        for component in &mut components {
            component.sort_unstable();
        }
        components.sort_unstable();
        components
    }

    /// Returns the strongly connected components by Tarjan's algorithm with an explicit call stack. Vertices
    /// on no cycle, nearly all in practice, are omitted.
    fn components_with_cycles(&self) -> Vec<Vec<V>> {
        let mut search = Tarjan {
            graph: self,
            index_of: vec![None; self.n_vertices()],
            low: vec![None; self.n_vertices()],
            is_open: vec![false; self.n_vertices()],
            open: Vec::new(),
            next: NonZeroU32::MIN,
            components: Vec::new(),
        };
        for vertex in self.vertices() {
            if search.index_of[vertex.index()].is_none() {
                search.visit_from(vertex);
            }
        }
        search.components
    }

    /// Returns a short cycle in a component of [`Csr::cyclic_components`], closed: the first vertex is also
    /// the last. The cycle is a shortest one if the component has at most 16 vertices.
    pub fn shortest_cycle(&self, component: &[V]) -> Vec<V> {
        let cycles = component.iter().filter_map(|vertex| self.cycle_through(*vertex, component));
        // Trying all vertices of a large component would take quadratic time.
        cycles.take(TRIED_MAX).min_by_key(Vec::len).unwrap_or_default()
    }

    /// Returns a shortest cycle through a vertex that stays inside the component.
    fn cycle_through(&self, start: V, component: &[V]) -> Option<Vec<V>> {
        let mut came_from: std::collections::HashMap<V, V> = std::collections::HashMap::new();
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(vertex) = queue.pop_front() {
            for target in self.targets(vertex) {
                if *target == start {
                    let mut path = vec![start, vertex];
                    while let Some(before) =
                        path.last().filter(|last| **last != start).map(|last| came_from[last])
                    {
                        path.push(before);
                    }
                    path.reverse();
                    return Some(path);
                }
                if component.binary_search(target).is_ok() && !came_from.contains_key(target) {
                    came_from.insert(*target, vertex);
                    queue.push_back(*target);
                }
            }
        }
        None
    }
}

/// Maximum number of vertices of a component from which a cycle search starts.
const TRIED_MAX: usize = 16;

/// Order in which a vertex was discovered, from 1; `None` if it was not visited.
type Discovery = Option<NonZeroU32>;

struct Tarjan<'g, V> {
    graph: &'g Csr<V>,
    index_of: Vec<Discovery>,
    /// The smallest discovery index of an open vertex that is reachable.
    low: Vec<Discovery>,
    is_open: Vec<bool>,
    open: Vec<V>,
    /// Discovery index of the next vertex.
    next: NonZeroU32,
    components: Vec<Vec<V>>,
}

impl<V: Idx> Tarjan<'_, V> {
    fn visit_from(&mut self, root: V) {
        // A vertex and the number of its targets already visited.
        let mut calls = vec![(root, 0_usize)];
        self.enter(root);
        while let Some((vertex, n_done)) = calls.last_mut() {
            let vertex = *vertex;
            if let Some(target) = self.graph.targets(vertex).get(*n_done).copied() {
                *n_done += 1;
                if self.index_of[target.index()].is_none() {
                    self.enter(target);
                    calls.push((target, 0));
                } else if self.is_open[target.index()] {
                    self.lower(vertex, self.index_of[target.index()]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                self.lower(*caller, self.low[vertex.index()]);
            }
            if self.low[vertex.index()] == self.index_of[vertex.index()] {
                self.close(vertex);
            }
        }
    }

    fn enter(&mut self, vertex: V) {
        self.index_of[vertex.index()] = Some(self.next);
        self.low[vertex.index()] = Some(self.next);
        self.next = self.next.saturating_add(1);
        self.is_open[vertex.index()] = true;
        self.open.push(vertex);
    }

    fn lower(&mut self, vertex: V, to: Discovery) {
        self.low[vertex.index()] = self.low[vertex.index()].min(to);
    }

    /// Closes the component of all vertices opened since `vertex`.
    fn close(&mut self, vertex: V) {
        if self.open.last() == Some(&vertex) && self.graph.targets(vertex).binary_search(&vertex).is_err() {
            self.open.pop();
            self.is_open[vertex.index()] = false;
            return;
        }
        let start = self.open.iter().rposition(|open| *open == vertex).unwrap_or_default();
        let group = self.open.split_off(start);
        for member in &group {
            self.is_open[member.index()] = false;
        }
        self.components.push(group);
    }
}
