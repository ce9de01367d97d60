//! Blueprints for a part of a run.

use stoker_model::{InstanceIdx, VertexIdx};

use super::Blueprint;

impl Blueprint {
    /// Returns the same blueprint with everything skipped except these instances and their successors. Handlers among
    /// these instances run without a trigger.
    pub fn from_instances(&self, instances: &[InstanceIdx]) -> Self {
        let valid = instances.iter().filter(|idx| idx.index() < self.instances.len());
        let is_after = self.order.reachable(valid.map(|idx| VertexIdx::from(*idx).get()));
        let mut rest = self.skipping(|idx| !is_after[idx.index()]);
        rest.handlers.only_triggered.retain(|idx| !instances.contains(idx));
        rest
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
