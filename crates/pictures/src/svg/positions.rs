//! Coordinates of cells.

use super::layers::{Cell, Layers};
use super::ordering::Order;
use super::text;
use crate::drawing::Diagram;

pub(super) const BOX_HEIGHT: f64 = 26.0;
/// Distance between layers.
const LAYER_HEIGHT: f64 = 64.0;
const GAP: f64 = 14.0;
/// Width of a pass-through point of an edge.
const PASS_WIDTH: f64 = 4.0;
const LANE_GAP: f64 = 28.0;
pub(super) const MARGIN: f64 = 24.0;
const N_SWEEPS: usize = 8;

pub(super) struct Positions {
    /// For each cell, its centre.
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// Indexed by cell.
    pub(super) width: Vec<f64>,
    /// Left and right edges of named lanes.
    pub(super) lanes: Vec<(String, f64, f64)>,
    pub(super) total_width: f64,
    pub(super) total_height: f64,
}

impl Positions {
    pub(super) fn new(drawing: &Diagram, layers: &Layers, order: Order) -> Self {
        let width: Vec<f64> = layers
            .cells
            .iter()
            .map(|cell| match cell {
                Cell::Vertex(vertex_idx) => text::box_width(&drawing.vertices[*vertex_idx as usize]),
                Cell::Pass(_) => PASS_WIDTH,
            })
            .collect();
        let segments = segments(&order);
        let ends = lane_ends(&order, &segments, &width);
        let mut x = vec![0.0; layers.cells.len()];
        for segment in segments.iter().flatten() {
            let (left, right) = ends[segment.lane as usize];
            let packed: f64 = packed_width(&segment.cells, &width);
            let mut at = left + (right - left - packed) / 2.0;
            for cell in &segment.cells {
                x[*cell as usize] = at + width[*cell as usize] / 2.0;
                at += width[*cell as usize] + GAP;
            }
        }
        for sweep in 0..N_SWEEPS {
            let is_down = sweep % 2 == 0;
            let neighbours = if is_down { &layers.above } else { &layers.below };
            for at in 0..segments.len() {
                let row = if is_down { at } else { segments.len() - 1 - at };
                for segment in &segments[row] {
                    let (left, right) = ends[segment.lane as usize];
                    align(segment, neighbours, &order.lane_of, &width, left, right, &mut x);
                }
            }
        }
        let y =
            layers.layer_of.iter().map(|layer| MARGIN + BOX_HEIGHT / 2.0 + f64::from(*layer) * LAYER_HEIGHT);
        let total_width = ends.last().map_or(0.0, |(_, right)| *right) + MARGIN;
        let total_height =
            (layers.n_rows.saturating_sub(1)) as f64 * LAYER_HEIGHT + BOX_HEIGHT + 2.0 * MARGIN;
        let has_names = order.lanes.iter().any(|name| !name.is_empty());
        let lanes = order.lanes.into_iter().zip(ends).filter(|_| has_names);
        let lanes = lanes.map(|(name, (left, right))| (name, left, right)).collect();
        Self { x, y: y.collect(), width, lanes, total_width, total_height }
    }
}

/// The cells of one lane in one layer.
struct Segment {
    lane: u32,
    cells: Vec<u32>,
}

fn segments(order: &Order) -> Vec<Vec<Segment>> {
    let of_row = |row: &Vec<u32>| {
        let mut segments: Vec<Segment> = Vec::new();
        for cell in row {
            let lane = order.lane_of[*cell as usize];
            match segments.last_mut() {
                Some(segment) if segment.lane == lane => segment.cells.push(*cell),
                _ => segments.push(Segment { lane, cells: vec![*cell] }),
            }
        }
        segments
    };
    order.rows.iter().map(of_row).collect()
}

fn packed_width(cells: &[u32], width: &[f64]) -> f64 {
    let boxes: f64 = cells.iter().map(|cell| width[*cell as usize]).sum();
    boxes + GAP * cells.len().saturating_sub(1) as f64
}

/// Returns the left and right edges of lanes: a lane is as wide as its widest layer and its name.
fn lane_ends(order: &Order, segments: &[Vec<Segment>], width: &[f64]) -> Vec<(f64, f64)> {
    let mut widths: Vec<f64> = order.lanes.iter().map(|name| text::width(name)).collect();
    for segment in segments.iter().flatten() {
        let lane = &mut widths[segment.lane as usize];
        *lane = lane.max(packed_width(&segment.cells, width));
    }
    let mut left = MARGIN;
    let mut ends = Vec::with_capacity(widths.len());
    for width in widths {
        ends.push((left, left + width));
        left += width + LANE_GAP;
    }
    ends
}

/// Moves cells towards their neighbours as far as their order and the lane allow. Minimizes the sum of squared
/// distances by merging overlapping cells into blocks (isotonic regression).
fn align(
    segment: &Segment,
    neighbours: &[Vec<u32>],
    lane_of: &[u32],
    width: &[f64],
    left: f64,
    right: f64,
    x: &mut [f64],
) {
    let cells = &segment.cells;
    // Positions if all cells were packed to the left.
    let mut packed = Vec::with_capacity(cells.len());
    let mut at = left;
    for cell in cells {
        packed.push(at + width[*cell as usize] / 2.0);
        at += width[*cell as usize] + GAP;
    }
    let room = (right - (at - GAP)).max(0.0);
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (cell, packed) in cells.iter().zip(&packed) {
        // Only neighbours in the same lane count: moving a cell cannot bring it closer to another lane.
        let lane_neighbours =
            neighbours[*cell as usize].iter().filter(|other| lane_of[**other as usize] == segment.lane);
        let (sum, n_neighbours) =
            lane_neighbours.fold((0.0, 0), |(sum, n), other| (sum + x[*other as usize], n + 1));
        let target = if n_neighbours == 0 { x[*cell as usize] } else { sum / f64::from(n_neighbours) };
        blocks.push((target - packed, 1));
        while let [.., (before, n_before), (last, n_last)] = blocks[..] {
            if before <= last {
                break;
            }
            let n_cells = n_before + n_last;
            let mean = (before * n_before as f64 + last * n_last as f64) / n_cells as f64;
            blocks.truncate(blocks.len() - 2);
            blocks.push((mean, n_cells));
        }
    }
    let shifts = blocks.iter().flat_map(|(shift, n_cells)| std::iter::repeat_n(*shift, *n_cells));
    for ((cell, packed), shift) in cells.iter().zip(&packed).zip(shifts) {
        x[*cell as usize] = packed + shift.clamp(0.0, room);
    }
}
