//! Run-length encoding of the order.
//!
//! If a task follows another on the same node, the edge target advances by one from node to node; if a task
//! follows a stage, the target stays the same. So the targets of consecutive rows mostly differ by constant
//! steps, and a thousand rows are one run. A single row, such as that of a junction vertex, is stored as
//! ranges.

use serde::{Deserialize, Serialize};
use stoker_graph::Csr;

use super::columns::number;
use super::{Bounds, DecodeError};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    n_vertices: usize,
    /// For each run: the number of rows and of pairs, then the pairs. For a single row a pair is the first
    /// target of a range and its length; for several rows it is a target of the first row and its step.
    rows: Vec<i64>,
}

/// Rows longer than this are stored as ranges: they practically never repeat.
const ROW_LEN_MAX: usize = 64;

impl Order {
    pub(super) fn of(order: &Csr) -> Self {
        let n_vertices = order.n_vertices();
        let mut rows = Vec::new();
        let mut vertex = 0;
        while vertex < n_vertices {
            let steps = steps(order, vertex);
            let n_rows = match &steps {
                Some(steps) => 1 + n_following(order, vertex, steps),
                None => 1,
            };
            let first = order.targets(vertex as u32);
            match steps.filter(|_| n_rows > 1) {
                Some(steps) => {
                    rows.extend([n_rows as i64, first.len() as i64]);
                    for (target, step) in first.iter().zip(steps) {
                        rows.extend([i64::from(*target), step]);
                    }
                }
                None => push_ranges(first, &mut rows),
            }
            vertex += n_rows;
        }
        Self { n_vertices, rows }
    }

    pub(super) fn into_csr(self, n_instances: usize, bounds: &Bounds) -> Result<Csr, DecodeError> {
        if self.n_vertices > bounds.vertices || self.n_vertices < n_instances {
            return Err(DecodeError::Damaged("the order has an invalid number of vertices"));
        }
        let mut reader =
            Reader { n_vertices: self.n_vertices, n_instances, edges: Vec::new(), edges_max: bounds.edges };
        let mut rest = self.rows.as_slice();
        let mut vertex = 0;
        while let [n_rows, n_pairs, after @ ..] = rest {
            let (n_rows, n_pairs) = (count(*n_rows)?, count(*n_pairs)?);
            if n_rows == 0 || n_rows > self.n_vertices - vertex {
                return Err(DecodeError::Damaged("the order has an invalid number of rows"));
            }
            let (pairs, _) = after.as_chunks::<2>();
            let pairs = pairs.get(..n_pairs).ok_or(DecodeError::Damaged("the order is truncated"))?;
            reader.read_rows(vertex, n_rows, pairs)?;
            vertex += n_rows;
            rest = &after[2 * n_pairs..];
        }
        if vertex != self.n_vertices || !rest.is_empty() {
            return Err(DecodeError::Damaged("the order is truncated"));
        }
        Ok(Csr::new(self.n_vertices, reader.edges))
    }
}

fn count(number: i64) -> Result<usize, DecodeError> {
    usize::try_from(number).map_err(|_| DecodeError::Damaged("a number is out of range"))
}

/// Returns the offset from each target of a row to the corresponding target of the next row, or `None` if the two
/// rows cannot share a run-length-encoded run.
fn steps(order: &Csr, vertex: usize) -> Option<Vec<i64>> {
    if vertex + 1 >= order.n_vertices() {
        return None;
    }
    let (row, next) = (order.targets(vertex as u32), order.targets(vertex as u32 + 1));
    let has_equal_shape = row.len() == next.len() && row.len() <= ROW_LEN_MAX;
    has_equal_shape.then(|| row.iter().zip(next).map(|(a, b)| i64::from(*b) - i64::from(*a)).collect())
}

fn n_following(order: &Csr, vertex: usize, steps: &[i64]) -> usize {
    let first = order.targets(vertex as u32);
    let fits = |row_idx: usize| {
        let row = order.targets((vertex + row_idx) as u32);
        row.len() == steps.len()
            && row.iter().zip(first).zip(steps).all(|((target, first), step)| {
                i64::from(*target) == i64::from(*first) + step * row_idx as i64
            })
    };
    (1..order.n_vertices() - vertex).take_while(|row_idx| fits(*row_idx)).count()
}

fn push_ranges(row: &[u32], rows: &mut Vec<i64>) {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for target in row {
        match ranges.last_mut() {
            Some((first, len)) if *first + *len == *target => *len += 1,
            _ => ranges.push((*target, 1)),
        }
    }
    rows.extend([1, ranges.len() as i64]);
    rows.extend(ranges.into_iter().flat_map(|(first, len)| [i64::from(first), i64::from(len)]));
}

struct Reader {
    n_vertices: usize,
    n_instances: usize,
    edges: Vec<(u32, u32)>,
    edges_max: usize,
}

impl Reader {
    fn read_rows(&mut self, vertex: usize, n_rows: usize, pairs: &[[i64; 2]]) -> Result<(), DecodeError> {
        if n_rows == 1 {
            for [first, len] in pairs {
                for position in 0..self.check_room(count(*len)?)? as i64 {
                    self.add_edge(vertex, number(*first, 1, position)?)?;
                }
            }
            return Ok(());
        }
        self.check_room(n_rows.saturating_mul(pairs.len()))?;
        for row_idx in 0..n_rows {
            for [first, step] in pairs {
                self.add_edge(vertex + row_idx, number(*first, *step, row_idx as i64)?)?;
            }
        }
        Ok(())
    }

    fn check_room(&self, n_edges: usize) -> Result<usize, DecodeError> {
        if n_edges > self.edges_max - self.edges.len() {
            return Err(DecodeError::Damaged("the order has too many edges"));
        }
        Ok(n_edges)
    }

    /// Junctions connect instances only, never other junctions: readers of the order rely on it.
    fn add_edge(&mut self, from: usize, to: u32) -> Result<(), DecodeError> {
        let end = if from < self.n_instances { self.n_vertices } else { self.n_instances };
        if to as usize >= end {
            return Err(DecodeError::Damaged("an edge has a target out of range"));
        }
        self.edges.push((from as u32, to));
        Ok(())
    }
}
