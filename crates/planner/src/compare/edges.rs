//! The order of two plans, side by side.
//!
//! Where sets meet, all edges between them would be their product. Rows are therefore compared as they are kept: edges
//! between instances, and sets that are reached through a place where they meet. Only rows that differ are written out.

use std::collections::HashMap;

use super::EdgeChanges;
use super::instances::Pairs;
use crate::plan::Plan;

/// Of many edges, these are told.
const SAMPLES_MAX: usize = 5;

/// One of the two orders, in numbers of the earlier plan.
struct Side<'p> {
    plan: &'p Plan,
    number: Box<dyn Fn(u32) -> Option<u32> + 'p>,
    /// By place where sets meet, which set is reached from it.
    sets: Vec<u32>,
}

/// Sets of instances, each once for both plans.
#[derive(Default)]
struct Sets {
    all: Vec<Vec<u32>>,
    known: HashMap<Vec<u32>, u32>,
}

impl Sets {
    fn number(&mut self, mut set: Vec<u32>) -> u32 {
        set.sort_unstable();
        let next = self.all.len() as u32;
        *self.known.entry(set).or_insert_with_key(|set| {
            self.all.push(set.clone());
            next
        })
    }
}

/// Edges between instances of both plans that were added and removed.
pub(super) fn compare(before: &Plan, after: &Plan, pairs: &Pairs) -> (EdgeChanges, EdgeChanges) {
    let mut sets = Sets::default();
    let old = Side::new(before, Box::new(|idx| pairs.after[idx as usize].map(|_| idx)), &mut sets);
    let new = Side::new(after, Box::new(|idx| pairs.before[idx as usize]), &mut sets);
    let (mut added, mut removed) = (EdgeChanges::default(), EdgeChanges::default());
    for (idx, other_idx) in (0_u32..).zip(&pairs.after) {
        let Some(other_idx) = other_idx else { continue };
        let (was, is) = (old.row(idx, &sets), new.row(*other_idx, &sets));
        if was == is {
            continue;
        }
        let (was, is) = (written_out(was, &sets), written_out(is, &sets));
        added.note(before, idx, is.iter().filter(|to| was.binary_search(to).is_err()));
        removed.note(before, idx, was.iter().filter(|to| is.binary_search(to).is_err()));
    }
    (added, removed)
}

/// Instances, and numbers of sets.
type Row = (Vec<u32>, Vec<u32>);

impl<'p> Side<'p> {
    fn new(plan: &'p Plan, number: Box<dyn Fn(u32) -> Option<u32> + 'p>, sets: &mut Sets) -> Self {
        let places = plan.n_instances()..plan.order.n_vertices();
        let of_places = places
            .map(|place| {
                sets.number(plan.order.targets(place as u32).iter().filter_map(|to| number(*to)).collect())
            })
            .collect();
        Self { plan, number, sets: of_places }
    }

    fn row(&self, idx: u32, sets: &Sets) -> Row {
        let n_instances = self.plan.n_instances();
        let (mut instances, mut reached) = (Vec::new(), Vec::new());
        for to in self.plan.order.targets(idx) {
            match (*to as usize).checked_sub(n_instances) {
                None => instances.extend((self.number)(*to)),
                Some(place) => reached.push(self.sets[place]),
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

fn written_out((mut instances, reached): Row, sets: &Sets) -> Vec<u32> {
    instances.extend(reached.into_iter().flat_map(|set| &sets.all[set as usize]));
    instances.sort_unstable();
    instances.dedup();
    instances
}

impl EdgeChanges {
    fn note<'t>(&mut self, plan: &Plan, from: u32, targets: impl Iterator<Item = &'t u32>) {
        let name = |idx: u32| plan.instance(idx).map(|instance| instance.to_string()).unwrap_or_default();
        for to in targets {
            self.n_edges += 1;
            if self.samples.len() < SAMPLES_MAX {
                self.samples.push((name(from), name(*to)));
            }
        }
    }
}
