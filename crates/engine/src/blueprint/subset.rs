//! Blueprints for a part of a run.

use stoker_model::{InstanceIdx, VertexIdx};

use super::Blueprint;

impl Blueprint {
    /// Returns the same blueprint with everything skipped except these instances and their successors.
    pub fn from_instances(&self, instances: &[InstanceIdx]) -> Self {
        let valid = instances.iter().filter(|idx| idx.index() < self.instances.len());
        let is_after = self.order.reachable(valid.map(|idx| VertexIdx::from(*idx).get()));
        self.skipping(|idx| !is_after[idx.index()])
    }

    /// Returns the same blueprint with these instances skipped. Indices are unchanged.
    pub(crate) fn skipping(&self, is_skipped: impl Fn(InstanceIdx) -> bool) -> Self {
        let mut rest = self.clone();
        for (idx, instance) in InstanceIdx::first(self.instances.len()).zip(&mut rest.instances) {
            if is_skipped(idx) {
                instance.work = None;
            }
        }
        rest
    }
}
