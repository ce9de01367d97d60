//! Who stands beside whom in a layer.

use super::lanes::Lanes;
use super::layers::{Cell, Layers};

/// By layer, its cells from left to right; and by cell, in which lane it is.
pub(super) struct Order {
    pub(super) rows: Vec<Vec<u32>>,
    pub(super) lane_of: Vec<u32>,
    /// Names of lanes; one without a name if clusters have none.
    pub(super) lanes: Vec<String>,
}

const N_SWEEPS: usize = 12;

pub(super) fn ordered(layers: &Layers, lanes: Lanes) -> Order {
    let lane_of = lane_of_cells(layers, &lanes);
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); layers.n_rows];
    for cell in 0..layers.cells.len() as u32 {
        rows[layers.layer_of[cell as usize] as usize].push(cell);
    }
    let mut place = vec![0.0; layers.cells.len()];
    for row in &mut rows {
        row.sort_by_key(|cell| lane_of[*cell as usize]);
        number(row, &mut place);
    }
    let (mut best, mut n_best) = (rows.clone(), n_crossings(layers, &rows, &place));
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
            sort(row, neighbours, &lane_of, &place);
            number(row, &mut place);
        }
        let n_found = n_crossings(layers, &rows, &place);
        if n_found < n_best {
            (best, n_best) = (rows.clone(), n_found);
        }
    }
    Order { rows: best, lane_of, lanes: lanes.names }
}

/// By cell, its lane. An edge changes lanes at its beginning.
fn lane_of_cells(layers: &Layers, lanes: &Lanes) -> Vec<u32> {
    let lane = |cell: &Cell| match cell {
        Cell::Vertex(vertex_idx) => lanes.of[*vertex_idx as usize],
        Cell::Pass(edge_idx) => {
            layers.edges[*edge_idx as usize].last().map_or(0, |last| lanes.of[*last as usize])
        }
    };
    layers.cells.iter().map(lane).collect()
}

fn number(row: &[u32], place: &mut [f64]) {
    for (at, cell) in row.iter().enumerate() {
        place[*cell as usize] = at as f64;
    }
}

/// By the mean place of neighbours; cells without any stay where they are.
fn sort(row: &mut [u32], neighbours: &[Vec<u32>], lane_of: &[u32], place: &[f64]) {
    let mut keyed: Vec<(u32, f64, u32)> = row
        .iter()
        .map(|cell| {
            let around = &neighbours[*cell as usize];
            let mean = if around.is_empty() {
                place[*cell as usize]
            } else {
                around.iter().map(|other| place[*other as usize]).sum::<f64>() / around.len() as f64
            };
            (lane_of[*cell as usize], mean, *cell)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for (slot, (_, _, cell)) in row.iter_mut().zip(keyed) {
        *slot = cell;
    }
}

/// How many pairs of edges between neighbouring layers cross.
fn n_crossings(layers: &Layers, rows: &[Vec<u32>], place: &[f64]) -> u64 {
    let mut n_crossings = 0;
    for row in rows {
        let mut ends: Vec<usize> = Vec::new();
        for cell in row {
            let mut targets: Vec<usize> =
                layers.below[*cell as usize].iter().map(|target| place[*target as usize] as usize).collect();
            targets.sort_unstable();
            ends.extend(targets);
        }
        n_crossings += n_inversions(&ends);
    }
    n_crossings
}

/// Pairs that are in the wrong order, counted with a tree of sums.
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
    fn inversions_are_pairs_in_the_wrong_order() {
        for (values, expected) in
            [(vec![], 0), (vec![3], 0), (vec![1, 1], 0), (vec![2, 1, 0], 3), (vec![0, 5, 1, 5, 2], 3)]
        {
            assert_eq!(n_inversions(&values), expected, "{values:?}");
        }
    }
}
