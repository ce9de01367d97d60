//! Reasons why vertices cannot be executed.

use stoker_model::{InstanceIdx, VertexIdx};

/// Reason why a vertex cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// This instance did not succeed.
    Instance(InstanceIdx),
    /// The run was stopped.
    Stopped,
}

/// The first cause of each vertex. A run may have millions of vertices, so an entry has 4 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Causes(Vec<Entry>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
struct Entry(u32);

impl Entry {
    const NONE: Self = Self(0);
    const STOPPED: Self = Self(1);
    /// Entry of the first instance.
    const FIRST: u32 = 2;

    fn new(cause: Option<Cause>) -> Self {
        match cause {
            None => Self::NONE,
            Some(Cause::Stopped) => Self::STOPPED,
            Some(Cause::Instance(idx)) => Self(idx.get() + Self::FIRST),
        }
    }

    fn get(self) -> Option<Cause> {
        match self {
            Self::NONE => None,
            Self::STOPPED => Some(Cause::Stopped),
            Self(number) => Some(Cause::Instance(InstanceIdx::new(number - Self::FIRST))),
        }
    }
}

impl Causes {
    /// Creates the table; initially no vertex has a cause.
    pub(super) fn new(n_vertices: usize) -> Self {
        Self(vec![Entry::NONE; n_vertices])
    }

    pub(super) fn get(&self, vertex: impl Into<VertexIdx>) -> Option<Cause> {
        self.0[vertex.into().index()].get()
    }

    /// Returns the instance that is the cause, if the cause is an instance.
    pub(super) fn instance(&self, vertex: impl Into<VertexIdx>) -> Option<InstanceIdx> {
        match self.get(vertex) {
            Some(Cause::Instance(idx)) => Some(idx),
            Some(Cause::Stopped) | None => None,
        }
    }

    /// Sets the cause of a vertex unless it has one.
    pub(super) fn set_first(&mut self, vertex: VertexIdx, cause: Option<Cause>) {
        let entry = &mut self.0[vertex.index()];
        if *entry == Entry::NONE {
            *entry = Entry::new(cause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_cause_stays() {
        let cause = |idx| Some(Cause::Instance(InstanceIdx::new(idx)));
        let vertex = VertexIdx::new(1);
        let mut causes = Causes::new(2);
        assert_eq!(causes.get(vertex), None);
        causes.set_first(vertex, None);
        causes.set_first(vertex, cause(0));
        causes.set_first(vertex, Some(Cause::Stopped));
        assert_eq!((causes.get(vertex), causes.instance(vertex)), (cause(0), Some(InstanceIdx::new(0))));
        assert_eq!(causes.get(VertexIdx::new(0)), None);
    }

    #[test]
    fn entries_are_small_and_distinct() {
        assert_eq!(size_of::<Entry>(), 4);
        let causes =
            [None, Some(Cause::Stopped), Some(Cause::Instance(InstanceIdx::new(u32::MAX - Entry::FIRST)))];
        for cause in causes {
            assert_eq!(Entry::new(cause).get(), cause);
        }
    }
}
