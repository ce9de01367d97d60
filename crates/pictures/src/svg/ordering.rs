//! Ordering of cells within layers to minimize edge crossings.

use super::lanes::Lanes;
use super::layers::{Cell, Layers};

/// Cells of each layer from left to right, and the lane of each cell.
pub(super) struct Order {
    pub(super) rows: Vec<Vec<u32>>,
    pub(super) lane_of: Vec<u32>,
    /// Names of lanes; a single empty name if there are no clusters.
    pub(super) lanes: Vec<String>,
}

const N_SWEEPS: usize = 12;

pub(super) fn order_cells(layers: &Layers, lanes: Lanes) -> Order {
    let lane_of = lane_of_cells(layers, &lanes);
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); layers.n_rows];
    for cell in 0..layers.cells.len() as u32 {
        rows[layers.layer_of[cell as usize] as usize].push(cell);
    }
    let mut position = vec![0.0; layers.cells.len()];
    for row in &mut rows {
        row.sort_by_key(|cell| lane_of[*cell as usize]);
        set_positions(row, &mut position);
    }
    let (mut best, mut n_best) = (rows.clone(), n_crossings(layers, &rows, &position));
    for sweep in 0..N_SWEEPS {
        let is_down = sweep % 2 == 0;
        let neighbours = if is_down { &layers.above } else { &layers.below };
        for at in 0..rows.len() {
            let row = if is_down {
                &mut rows[at]
            } else {
                let last = rows.len() - 1;
                &mut rows[last - at]
            };
            sort(row, neighbours, &lane_of, &position);
            set_positions(row, &mut position);
        }
        let n_current = n_crossings(layers, &rows, &position);
        if n_current < n_best {
            (best, n_best) = (rows.clone(), n_current);
        }
    }
    Order { rows: best, lane_of, lanes: lanes.names }
}

/// Returns the lane of each cell. An edge between lanes changes lanes at its start.
fn lane_of_cells(layers: &Layers, lanes: &Lanes) -> Vec<u32> {
    let lane = |cell: &Cell| match cell {
        Cell::Vertex(vertex_idx) => lanes.of[*vertex_idx as usize],
        Cell::Pass(edge_idx) => {
            layers.edges[*edge_idx as usize].last().map_or(0, |last| lanes.of[*last as usize])
        }
    };
    layers.cells.iter().map(lane).collect()
}

fn set_positions(row: &[u32], position: &mut [f64]) {
    for (at, cell) in row.iter().enumerate() {
        position[*cell as usize] = at as f64;
    }
}

/// Sorts a row by the mean position of neighbours (barycenter heuristic); cells without neighbours keep their
/// position.
fn sort(row: &mut [u32], neighbours: &[Vec<u32>], lane_of: &[u32], position: &[f64]) {
    let mut keyed: Vec<(u32, f64, u32)> = row
        .iter()
        .map(|cell| {
            let around = &neighbours[*cell as usize];
            let mean = if around.is_empty() {
                position[*cell as usize]
            } else {
                around.iter().map(|other| position[*other as usize]).sum::<f64>() / around.len() as f64
            };
            (lane_of[*cell as usize], mean, *cell)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for (slot, (_, _, cell)) in row.iter_mut().zip(keyed) {
        *slot = cell;
    }
}

/// Returns the number of crossing pairs of edges between adjacent layers.
fn n_crossings(layers: &Layers, rows: &[Vec<u32>], position: &[f64]) -> u64 {
    let mut n_crossings = 0;
    for row in rows {
        let mut ends: Vec<usize> = Vec::new();
        for cell in row {
            let mut targets: Vec<usize> = layers.below[*cell as usize]
                .iter()
                .map(|target| position[*target as usize] as usize)
                .collect();
            targets.sort_unstable();
            ends.extend(targets);
        }
        n_crossings += n_inversions(&ends);
    }
    n_crossings
}

/// Returns the number of inversions, counted with a Fenwick tree.
fn n_inversions(values: &[usize]) -> u64 {
    let len = values.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![0_u64; len + 1];
    let mut n_inversions = 0;
    for (n_before, value) in (0_u64..).zip(values) {
        let mut at = value + 1;
        let mut n_smaller = 0;
        while at > 0 {
            n_smaller += sums[at];
            at &= at - 1;
        }
        n_inversions += n_before - n_smaller;
        let mut at = value + 1;
        while at <= len {
            sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    n_inversions
}

#[cfg(test)]
mod tests {
    use super::n_inversions;

    #[test]
    fn inversions_are_counted() {
        for (values, expected) in
            [(vec![], 0), (vec![3], 0), (vec![1, 1], 0), (vec![2, 1, 0], 3), (vec![0, 5, 1, 5, 2], 3)]
        {
            assert_eq!(n_inversions(&values), expected, "{values:?}");
        }
    }
}
