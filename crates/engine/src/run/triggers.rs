//! Handlers that are triggered by the results of other instances.

use stoker_model::{InstanceIdx, TaskReport, VertexIdx};

use super::event::EventKind;
use super::state::RunMachine;
use crate::blueprint::Blueprint;

impl RunMachine {
    /// Reports whether an instance that may have changed its host has triggered this handler.
    pub fn is_triggered(&self, instance: InstanceIdx) -> bool {
        self.triggered.get(instance.index()).is_some_and(|is_triggered| *is_triggered)
    }

    /// Reports whether an instance runs only if it is triggered, and is not.
    pub(super) fn is_untriggered(&self, blueprint: &Blueprint, instance: InstanceIdx) -> bool {
        blueprint.handlers.only_triggered.contains(&instance) && !self.is_triggered(instance)
    }

    pub(super) fn trigger_handlers(
        &mut self,
        blueprint: &Blueprint,
        instance: InstanceIdx,
        report: &TaskReport,
    ) {
        for vertex in self.untriggered_by(blueprint, instance, report) {
            self.triggered[vertex.index()] = true;
        }
    }

    /// Returns the handlers that an event is the first to trigger.
    pub(super) fn first_triggered(&self, blueprint: &Blueprint, event: &EventKind) -> Vec<InstanceIdx> {
        let (EventKind::AttemptEnded { instance, report, .. }
        | EventKind::LateResult { instance, report, .. }) = event
        else {
            return Vec::new();
        };
        let vertices = self.untriggered_by(blueprint, *instance, report).into_iter();
        vertices.filter_map(|vertex| vertex.instance(blueprint.instances.len())).collect()
    }

    /// Returns the vertices that a result triggers and no earlier one did. A result of unknown effect, such as a failure,
    /// triggers: its retry may find nothing left to change.
    fn untriggered_by(
        &self,
        blueprint: &Blueprint,
        instance: InstanceIdx,
        report: &TaskReport,
    ) -> Vec<VertexIdx> {
        let mut handlers = Vec::new();
        if report.changed == Some(false) {
            return handlers;
        }
        let mut queue = vec![VertexIdx::from(instance)];
        while let Some(vertex) = queue.pop() {
            for target in blueprint.handlers.targets(vertex) {
                let target = VertexIdx::new(*target);
                if self.triggered[target.index()] {
                    continue;
                }
                handlers.push(target);
                // A junction stands for its targets; a handler does not trigger its own until it has run.
                if target.instance(blueprint.instances.len()).is_none() {
                    queue.push(target);
                }
            }
        }
        // A handler can be a target of its trigger and of a junction.
        handlers.sort_unstable();
        handlers.dedup();
        handlers
    }
}
