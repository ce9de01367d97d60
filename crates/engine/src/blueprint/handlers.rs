//! Handlers: instances that run because other instances changed their hosts.

use std::collections::BTreeSet;

use stoker_graph::Csr;
use stoker_model::{InstanceIdx, VertexIdx};

/// Which instances trigger which handlers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handlers {
    /// Edges from an instance to the handlers that its changes trigger. Vertices after the instances are junctions.
    /// Handlers must follow their triggers in the order. `None` if there are no handlers.
    pub triggers: Option<Csr>,
    /// Instances that run only if they are triggered.
    pub only_triggered: BTreeSet<InstanceIdx>,
}

impl Handlers {
    /// Returns the vertices that a change of this vertex triggers.
    pub(crate) fn targets(&self, vertex: VertexIdx) -> &[u32] {
        match &self.triggers {
            Some(triggers) if vertex.index() < triggers.n_vertices() => triggers.targets(vertex.get()),
            _ => &[],
        }
    }

    pub(crate) fn n_vertices(&self) -> usize {
        self.triggers.as_ref().map_or(0, Csr::n_vertices)
    }
}
