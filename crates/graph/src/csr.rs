//! A directed graph as two arrays, for graphs from a hundred to millions of vertices.
//!
//! Vertices are numbers from 0. Edges of a vertex are sorted and distinct, so every answer depends on the set of edges
//! alone, not on the order in which they were found. Nothing here recurses.

/// Compressed rows: the targets of vertex `v` are `targets[offsets[v]..offsets[v + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl Csr {
    /// A graph of `n_vertices` with these edges, each from and to.
    ///
    /// Edges are dealt out to their rows and only the rows are sorted: most are short, so this is linear in practice
    /// where sorting millions of edges is not.
    pub fn new(n_vertices: usize, edges: Vec<(u32, u32)>) -> Self {
        let mut ends = vec![0_u32; n_vertices + 1];
        for (from, _) in &edges {
            ends[*from as usize + 1] += 1;
        }
        for vertex in 0..n_vertices {
            ends[vertex + 1] += ends[vertex];
        }
        // While dealing out, `ends[v]` moves from the start of row `v` to its end.
        let mut targets = vec![0; edges.len()];
        for (from, to) in edges {
            let place = &mut ends[from as usize];
            targets[*place as usize] = to;
            *place += 1;
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

    pub fn targets(&self, vertex: u32) -> &[u32] {
        &self.targets[self.offsets[vertex as usize] as usize..self.offsets[vertex as usize + 1] as usize]
    }

    /// The same vertices with every edge turned round.
    pub fn reversed(&self) -> Self {
        Self::new(self.n_vertices(), self.edges().map(|(from, to)| (to, from)).collect())
    }

    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.n_vertices() as u32)
            .flat_map(|vertex| self.targets(vertex).iter().map(move |target| (vertex, *target)))
    }

    /// An order in which every edge leads forward, the smallest vertex first where there is a choice; none if there
    /// is a cycle.
    pub fn topological_order(&self) -> Option<Vec<u32>> {
        let mut n_before = vec![0_u32; self.n_vertices()];
        for target in &self.targets {
            n_before[*target as usize] += 1;
        }
        let free = |n_before: &[u32], vertex: u32| n_before[vertex as usize] == 0;
        let mut ready: std::collections::BinaryHeap<std::cmp::Reverse<u32>> = (0..self.n_vertices() as u32)
            .filter(|vertex| free(&n_before, *vertex))
            .map(std::cmp::Reverse)
            .collect();
        let mut order = Vec::with_capacity(self.n_vertices());
        while let Some(std::cmp::Reverse(vertex)) = ready.pop() {
            order.push(vertex);
            for target in self.targets(vertex) {
                n_before[*target as usize] -= 1;
                if free(&n_before, *target) {
                    ready.push(std::cmp::Reverse(*target));
                }
            }
        }
        (order.len() == self.n_vertices()).then_some(order)
    }

    /// Whether some vertices wait for each other. Costs as much as there are edges.
    pub fn has_cycle(&self) -> bool {
        let mut n_before = vec![0_u32; self.n_vertices()];
        for target in &self.targets {
            n_before[*target as usize] += 1;
        }
        let is_free = |vertex: &u32| n_before[*vertex as usize] == 0;
        let mut ready: Vec<u32> = (0..self.n_vertices() as u32).filter(is_free).collect();
        let mut n_done = 0;
        while let Some(vertex) = ready.pop() {
            n_done += 1;
            for target in self.targets(vertex) {
                n_before[*target as usize] -= 1;
                if n_before[*target as usize] == 0 {
                    ready.push(*target);
                }
            }
        }
        n_done < self.n_vertices()
    }

    /// Every vertex that can be reached from these, themselves included.
    pub fn reachable(&self, from: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut is_reached = vec![false; self.n_vertices()];
        let mut waiting: Vec<u32> = from.into_iter().collect();
        while let Some(vertex) = waiting.pop() {
            if !std::mem::replace(&mut is_reached[vertex as usize], true) {
                waiting.extend(self.targets(vertex));
            }
        }
        is_reached
    }

    /// The groups of vertices that reach each other, if there is a cycle in the group: more than one vertex, or one
    /// with an edge to itself. Vertices ascend in a group, groups by their first vertex.
    pub fn knots(&self) -> Vec<Vec<u32>> {
        let mut knots = self.components_with_cycles();
        for knot in &mut knots {
            knot.sort_unstable();
        }
        knots.sort_unstable();
        knots
    }

    /// Strongly connected components (Tarjan), with the call stack written out. Vertices on no cycle, which are
    /// nearly all of them, are left out.
    fn components_with_cycles(&self) -> Vec<Vec<u32>> {
        let mut search = Tarjan {
            graph: self,
            index_of: vec![UNSEEN; self.n_vertices()],
            low: vec![0; self.n_vertices()],
            is_open: vec![false; self.n_vertices()],
            open: Vec::new(),
            n_seen: 0,
            found: Vec::new(),
        };
        for vertex in 0..self.n_vertices() as u32 {
            if search.index_of[vertex as usize] == UNSEEN {
                search.from(vertex);
            }
        }
        search.found
    }

    /// A short cycle in a knot, closed: the first vertex is also the last. The shortest one, if the knot is small.
    pub fn shortest_cycle(&self, knot: &[u32]) -> Vec<u32> {
        let cycles = knot.iter().filter_map(|vertex| self.cycle_through(*vertex, knot));
        // All of a large knot would cost its square; one of its first vertices is as good.
        cycles.take(TRIED_MAX).min_by_key(Vec::len).unwrap_or_default()
    }

    /// A shortest cycle through a vertex that does not leave the knot.
    fn cycle_through(&self, start: u32, knot: &[u32]) -> Option<Vec<u32>> {
        let mut came_from: std::collections::HashMap<u32, u32> = std::collections::HashMap::new();
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
                if knot.binary_search(target).is_ok() && !came_from.contains_key(target) {
                    came_from.insert(*target, vertex);
                    queue.push_back(*target);
                }
            }
        }
        None
    }
}

/// Vertices of a knot from which a cycle is looked for.
const TRIED_MAX: usize = 16;

const UNSEEN: u32 = u32::MAX;

struct Tarjan<'g> {
    graph: &'g Csr,
    /// When each vertex was first seen.
    index_of: Vec<u32>,
    /// The earliest open vertex that each can reach.
    low: Vec<u32>,
    is_open: Vec<bool>,
    open: Vec<u32>,
    n_seen: u32,
    found: Vec<Vec<u32>>,
}

impl Tarjan<'_> {
    fn from(&mut self, root: u32) {
        // A vertex and how many of its targets are done.
        let mut calls = vec![(root, 0_usize)];
        self.enter(root);
        while let Some((vertex, n_done)) = calls.last_mut() {
            let vertex = *vertex;
            if let Some(target) = self.graph.targets(vertex).get(*n_done).copied() {
                *n_done += 1;
                if self.index_of[target as usize] == UNSEEN {
                    self.enter(target);
                    calls.push((target, 0));
                } else if self.is_open[target as usize] {
                    self.lower(vertex, self.index_of[target as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                self.lower(*caller, self.low[vertex as usize]);
            }
            if self.low[vertex as usize] == self.index_of[vertex as usize] {
                self.close(vertex);
            }
        }
    }

    fn enter(&mut self, vertex: u32) {
        self.index_of[vertex as usize] = self.n_seen;
        self.low[vertex as usize] = self.n_seen;
        self.n_seen += 1;
        self.is_open[vertex as usize] = true;
        self.open.push(vertex);
    }

    fn lower(&mut self, vertex: u32, to: u32) {
        self.low[vertex as usize] = self.low[vertex as usize].min(to);
    }

    /// Everything opened since `vertex` is one component.
    fn close(&mut self, vertex: u32) {
        if self.open.last() == Some(&vertex) && self.graph.targets(vertex).binary_search(&vertex).is_err() {
            self.open.pop();
            self.is_open[vertex as usize] = false;
            return;
        }
        let start = self.open.iter().rposition(|open| *open == vertex).unwrap_or_default();
        let group = self.open.split_off(start);
        for member in &group {
            self.is_open[*member as usize] = false;
        }
        self.found.push(group);
    }
}
