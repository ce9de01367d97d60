//! Differences between the orders of two plans.
//!
//! A junction vertex stands for all edges between two sets, whose number is the product of their sizes. Rows
//! are therefore compared in their compact form: direct edges to instances, and target sets reached through
//! junctions. Only rows that differ are expanded.

use std::collections::HashMap;

use stoker_model::InstanceIdx;

use super::EdgeChanges;
use super::instances::Pairs;
use crate::plan::Plan;

/// Edges listed as examples; the others are only counted.
const SAMPLES_MAX: usize = 5;

/// The order of one plan, with instances renumbered as in the earlier plan.
struct Side<'p> {
    plan: &'p Plan,
    number: Box<dyn Fn(u32) -> Option<u32> + 'p>,
    /// For each junction vertex, the index in [`Sets`] of the set it leads to.
    sets: Vec<u32>,
}

/// Target sets of both plans, deduplicated.
#[derive(Default)]
struct Sets {
    all: Vec<Vec<u32>>,
    index_of: HashMap<Vec<u32>, u32>,
}

impl Sets {
    fn number(&mut self, mut set: Vec<u32>) -> u32 {
        set.sort_unstable();
        let next = self.all.len() as u32;
        *self.index_of.entry(set).or_insert_with_key(|set| {
            self.all.push(set.clone());
            next
        })
    }
}

/// Edges added and removed between instances that both plans have.
pub(super) fn compare(before: &Plan, after: &Plan, pairs: &Pairs) -> (EdgeChanges, EdgeChanges) {
    let mut sets = Sets::default();
    let old = Side::new(before, Box::new(|idx| pairs.after[idx as usize].map(|_| idx)), &mut sets);
    let new = Side::new(after, Box::new(|idx| pairs.before[idx as usize].map(InstanceIdx::get)), &mut sets);
    let (mut added, mut removed) = (EdgeChanges::default(), EdgeChanges::default());
    for (idx, other_idx) in (0_u32..).zip(&pairs.after) {
        let Some(other_idx) = other_idx else { continue };
        let (old_row, new_row) = (old.row(idx, &sets), new.row(other_idx.get(), &sets));
        if old_row == new_row {
            continue;
        }
        let (old_row, new_row) = (expand(old_row, &sets), expand(new_row, &sets));
        added.record(before, idx, new_row.iter().filter(|to| old_row.binary_search(to).is_err()));
        removed.record(before, idx, old_row.iter().filter(|to| new_row.binary_search(to).is_err()));
    }
    (added, removed)
}

/// Direct targets, and indices of the sets reached through junctions.
type Row = (Vec<u32>, Vec<u32>);

impl<'p> Side<'p> {
    fn new(plan: &'p Plan, number: Box<dyn Fn(u32) -> Option<u32> + 'p>, sets: &mut Sets) -> Self {
        let junctions = plan.n_instances()..plan.order.n_vertices();
        let junction_sets = junctions
            .map(|junction| {
                sets.number(plan.order.targets(junction as u32).iter().filter_map(|to| number(*to)).collect())
            })
            .collect();
        Self { plan, number, sets: junction_sets }
    }

    fn row(&self, idx: u32, sets: &Sets) -> Row {
        let n_instances = self.plan.n_instances();
        let (mut instances, mut reached) = (Vec::new(), Vec::new());
        for to in self.plan.order.targets(idx) {
            match (*to as usize).checked_sub(n_instances) {
                None => instances.extend((self.number)(*to)),
                Some(junction) => reached.push(self.sets[junction]),
            }
        }
        reached.retain(|set| !sets.all[*set as usize].is_empty());
        for list in [&mut instances, &mut reached] {
            list.sort_unstable();
            list.dedup();
        }
        (instances, reached)
    }
}

fn expand((mut instances, reached): Row, sets: &Sets) -> Vec<u32> {
    instances.extend(reached.into_iter().flat_map(|set| &sets.all[set as usize]));
    instances.sort_unstable();
    instances.dedup();
    instances
}

impl EdgeChanges {
    fn record<'t>(&mut self, plan: &Plan, from: u32, targets: impl Iterator<Item = &'t u32>) {
        let name = |idx: u32| {
            plan.instance(InstanceIdx::new(idx)).map(|instance| instance.to_string()).unwrap_or_default()
        };
        for to in targets {
            self.n_edges += 1;
            if self.samples.len() < SAMPLES_MAX {
                self.samples.push((name(from), name(*to)));
            }
        }
    }
}
