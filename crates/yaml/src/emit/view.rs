//! The interface between a tree and the writer.

use num_bigint::BigInt;

use crate::node::{Node, NodeKind, Scalar};
use crate::timestamp::Timestamp;

/// A value that can be written as YAML.
pub trait Emit {
    /// Returns the outermost level only; the writer calls this for children when it reaches them.
    fn view(&self) -> NodeView<'_>;
}

/// One level of a tree.
pub enum NodeView<'a> {
    Atom(Atom<'a>),
    Seq(Vec<&'a dyn Emit>),
    /// Entries in output order. The writer does not check for duplicate keys.
    Map(Vec<(Atom<'a>, &'a dyn Emit)>),
}

/// A scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Atom<'a> {
    Null,
    Bool(bool),
    Int(i64),
    BigInt(&'a BigInt),
    Float(f64),
    Str(&'a str),
    Timestamp(&'a Timestamp),
}

impl<'a> From<&'a Scalar> for Atom<'a> {
    fn from(scalar: &'a Scalar) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Bool(*value),
            Scalar::Int(value) => Self::Int(*value),
            Scalar::BigInt(value) => Self::BigInt(value),
            Scalar::Float(value) => Self::Float(*value),
            Scalar::Str(text) => Self::Str(text),
            Scalar::Timestamp(timestamp) => Self::Timestamp(timestamp),
        }
    }
}

impl Emit for Node {
    fn view(&self) -> NodeView<'_> {
        match &self.kind {
            NodeKind::Scalar(scalar) => NodeView::Atom(scalar.into()),
            NodeKind::Seq(items) => NodeView::Seq(items.iter().map(|item| item as &dyn Emit).collect()),
            NodeKind::Map(entries) => {
                // Keys of loaded mappings are scalars.
                NodeView::Map(
                    entries
                        .iter()
                        .filter_map(|(key, value)| Some((key.as_scalar()?.into(), value as &dyn Emit)))
                        .collect(),
                )
            }
        }
    }
}

impl Emit for &str {
    fn view(&self) -> NodeView<'_> {
        NodeView::Atom(Atom::Str(self))
    }
}

impl Emit for String {
    fn view(&self) -> NodeView<'_> {
        NodeView::Atom(Atom::Str(self))
    }
}

impl Emit for bool {
    fn view(&self) -> NodeView<'_> {
        NodeView::Atom(Atom::Bool(*self))
    }
}

impl Emit for i64 {
    fn view(&self) -> NodeView<'_> {
        NodeView::Atom(Atom::Int(*self))
    }
}

impl Emit for f64 {
    fn view(&self) -> NodeView<'_> {
        NodeView::Atom(Atom::Float(*self))
    }
}

impl<T: Emit> Emit for Option<T> {
    fn view(&self) -> NodeView<'_> {
        self.as_ref().map_or(NodeView::Atom(Atom::Null), T::view)
    }
}

impl<T: Emit> Emit for Vec<T> {
    fn view(&self) -> NodeView<'_> {
        NodeView::Seq(self.iter().map(|item| item as &dyn Emit).collect())
    }
}
