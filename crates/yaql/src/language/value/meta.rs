//! Properties of a container, aggregated over its contents.

use super::Value;

/// Maximum nesting depth of containers. Hashing, comparison, printing and dropping recurse by depth, so this
/// bounds their stack usage.
pub const MAX_DEPTH: u16 = 1000;

/// Properties of a container, computed when it is built.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// Nesting depth: 1 for a container of scalars.
    pub depth: u16,
    /// Length of the longest container, including this one.
    pub longest: u32,
    /// Whether it contains an unhashable value.
    pub unhashable: bool,
    /// Whether output conversion leaves the value unchanged: only arrays, maps with string keys and scalars,
    /// at every level.
    pub plain: bool,
}

impl Meta {
    pub(super) fn new(len: usize) -> Self {
        Self { depth: 1, longest: len as u32, unhashable: false, plain: true }
    }

    /// Aggregates the properties of an element.
    pub(super) fn include(&mut self, value: &Value) {
        let inner = match value {
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Str(_)
            | Value::BigInt(_)
            | Value::Float(_) => {
                return;
            }
            Value::Tuple(seq) => seq.meta(),
            Value::FrozenDict(map) => map.meta(),
            Value::List(seq) => Meta { unhashable: true, ..seq.meta() },
            Value::Dict(map) => Meta { unhashable: true, ..map.meta() },
            Value::Set(set) => Meta { plain: false, ..set.meta() },
            Value::Keys(view) | Value::Items(view) => {
                Meta { plain: false, unhashable: true, ..view.map.meta() }
            }
            Value::Values(view) => Meta { plain: false, ..view.map.meta() },
            Value::Ordering(cell) => Self::lazy(cell.depth()),
            Value::Iterator(cell) => Self::lazy(cell.depth()),
            Value::DateTime(moment) => {
                self.unhashable |= moment.offset().is_err();
                return;
            }
            Value::TimeSpan(_) | Value::Regex(_) => return,
            Value::Context(ctx) => Self::lazy(ctx.depth()),
            Value::Callable(callable) => Self::lazy(callable.depth()),
            Value::Omitted | Value::Opaque(_) => Self::lazy(0),
        };
        self.depth = self.depth.max(inner.depth.saturating_add(1));
        self.longest = self.longest.max(inner.longest);
        self.unhashable |= inner.unhashable;
        self.plain &= inner.plain;
    }

    fn lazy(depth: u16) -> Self {
        Self { depth, longest: 0, unhashable: false, plain: false }
    }
}

impl Value {
    /// Returns the nesting depth; 0 for scalars.
    #[inline]
    pub fn depth(&self) -> u16 {
        match self {
            Self::Tuple(seq) | Self::List(seq) => seq.meta().depth,
            Self::FrozenDict(map) | Self::Dict(map) => map.meta().depth,
            Self::Set(set) => set.meta().depth,
            Self::Keys(view) | Self::Items(view) => view.map.meta().depth,
            Self::Values(view) => view.map.meta().depth,
            Self::Ordering(cell) => cell.depth(),
            Self::Iterator(cell) => cell.depth(),
            Self::Context(ctx) => ctx.depth(),
            Self::Callable(callable) => callable.depth(),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::BigInt(_)
            | Self::Float(_)
            | Self::Str(_)
            | Self::DateTime(_)
            | Self::TimeSpan(_)
            | Self::Regex(_)
            | Self::Omitted
            | Self::Opaque(_) => 0,
        }
    }
}
