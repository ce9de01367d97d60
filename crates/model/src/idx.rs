//! One type for each index into a plan or a run, so that a node cannot be mistaken for an instance.

use std::fmt;
use std::hash::Hash;

/// An index into a slice of fewer than 2^32 elements.
pub trait Idx: Copy + Ord + Hash {
    /// Creates the index of a position in a slice.
    fn at(position: usize) -> Self;

    /// Returns the position in a slice.
    fn index(self) -> usize;
}

impl Idx for u32 {
    fn at(position: usize) -> Self {
        position as Self
    }

    fn index(self) -> usize {
        self as usize
    }
}

macro_rules! indices {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            pub const fn new(idx: u32) -> Self {
                Self(idx)
            }

            /// Returns the number that is stored and sent.
            pub const fn get(self) -> u32 {
                self.0
            }

            /// Returns the position in a slice.
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Creates the index of a position in a slice. A plan has fewer than 2^32 elements of each type.
            pub const fn at(position: usize) -> Self {
                Self(position as u32)
            }

            /// Returns the indices of the first `n` positions.
            pub fn first(n: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                (0..n as u32).map(Self)
            }
        }

        impl Idx for $name {
            fn at(position: usize) -> Self {
                Self::at(position)
            }

            fn index(self) -> usize {
                self.index()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

indices! {
    /// A tolerance group of a run.
    GroupIdx,
    /// A task instance of a plan.
    InstanceIdx,
    /// A node of a plan, or of the synthetic cluster of a graph check.
    NodeIdx,
    /// A task of a plan or of a merged graph.
    TaskIdx,
    /// A vertex of the order of a plan: an instance, or, after all instances, a join.
    VertexIdx,
}

impl VertexIdx {
    /// Returns the instance of this vertex; `None` for a join.
    pub const fn instance(self, n_instances: usize) -> Option<InstanceIdx> {
        if self.index() < n_instances { Some(InstanceIdx(self.0)) } else { None }
    }
}

impl From<InstanceIdx> for VertexIdx {
    fn from(instance: InstanceIdx) -> Self {
        Self(instance.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_cost_no_more_than_their_number() {
        assert_eq!(size_of::<InstanceIdx>(), 4);
        assert_eq!(InstanceIdx::new(7).index(), 7);
        assert_eq!(format!("{0} {0:?}", NodeIdx::at(3)), "3 3");
        assert_eq!(TaskIdx::first(3).rev().map(TaskIdx::get).collect::<Vec<_>>(), [2, 1, 0]);
    }

    #[test]
    fn vertices_after_the_instances_are_joins() {
        let instance = InstanceIdx::new(1);
        assert_eq!(VertexIdx::from(instance).instance(2), Some(instance));
        assert_eq!(VertexIdx::new(2).instance(2), None);
    }
}
