//! Values: immutable, shared, cheap to clone.
//!
//! A container caches properties that would otherwise need a traversal: its depth, the longest container in
//! it, whether it is hashable, and (on demand) its content digest.

mod digest;
pub(crate) mod equality;
mod kind;
mod map;
mod meta;
pub(crate) mod number;
mod seq;
mod set;
pub(crate) mod size;
mod table;
mod text;
mod truth;

use std::sync::Arc;

use num_bigint::BigInt;

pub use digest::{Digest, ExactDigest};
pub use kind::{KindSet, ValueKind};
pub use map::{Key, Map, MapBuilder, StrKey};
pub use meta::{MAX_DEPTH, Meta};
pub use seq::Seq;
pub use set::Set;
pub(crate) use table::Table;

use crate::eval::{Callable, Ctx, IterCell, OrderingCell};
use crate::moment::{DateTime, TimeSpan};
use crate::pyregex::Regex;

/// A value of the language.
///
/// The discriminant takes a whole word. With a smaller discriminant, values wrapped in `Result` are copied in
/// unequal parts, and reading such a copy back causes a store-forwarding stall.
#[derive(Clone, Debug, Default)]
#[repr(u64)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    /// An integer outside the range of `i64`; smaller integers are always [`Value::Int`].
    BigInt(Arc<BigInt>),
    Float(f64),
    Str(Arc<str>),
    /// Result of literals, input arrays and `toList()`.
    Tuple(Arc<Seq>),
    /// Result of `split()` and a few other functions; never equal to a tuple, and unhashable.
    List(Arc<Seq>),
    /// Result of literals and input objects.
    FrozenDict(Arc<Map>),
    /// Result of `toDict()` and a few other functions; unhashable.
    Dict(Arc<Map>),
    Set(Arc<Set>),
    /// Set-like view of the keys of a map.
    Keys(MapView),
    /// Set-like view of the entries of a map.
    Items(MapView),
    /// View of the values of a map. Boxed separately because it is equal only to itself.
    Values(Arc<MapView>),
    Ordering(Arc<OrderingCell>),
    Iterator(Arc<IterCell>),
    DateTime(Arc<DateTime>),
    TimeSpan(TimeSpan),
    Regex(Arc<Regex>),
    Context(Ctx),
    Callable(Arc<Callable>),
    /// An omitted argument, as in `[1, , 2]`.
    Omitted,
    /// A value of the embedding program; equal only to itself.
    Opaque(Arc<dyn Opaque>),
}

/// A value of the embedding program, opaque to expressions.
pub trait Opaque: std::any::Any + Send + Sync + std::fmt::Debug {
    /// Returns the type name used when the value is printed.
    fn type_name(&self) -> &str;
}

/// A view of a map. `frozen` records whether the map is frozen.
#[derive(Clone, Debug)]
pub struct MapView {
    pub map: Arc<Map>,
    pub frozen: bool,
}

impl Value {
    pub fn str(text: impl Into<Arc<str>>) -> Self {
        Self::Str(text.into())
    }

    /// Creates an integer in canonical form.
    pub fn int(number: BigInt) -> Self {
        match i64::try_from(&number) {
            Ok(small) => Self::Int(small),
            Err(_) => Self::BigInt(Arc::new(number)),
        }
    }

    pub fn tuple(items: Vec<Value>) -> Self {
        Self::Tuple(Arc::new(Seq::new(items)))
    }

    pub fn list(items: Vec<Value>) -> Self {
        Self::List(Arc::new(Seq::new(items)))
    }

    pub fn frozen_dict(map: Map) -> Self {
        Self::FrozenDict(Arc::new(map))
    }

    pub fn dict(map: Map) -> Self {
        Self::Dict(Arc::new(map))
    }

    pub fn set(set: Set) -> Self {
        Self::Set(Arc::new(set))
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the sequence of a tuple or list.
    pub fn as_seq(&self) -> Option<&Arc<Seq>> {
        match self {
            Self::Tuple(seq) | Self::List(seq) => Some(seq),
            _ => None,
        }
    }

    /// Returns the map of a frozen or mutable map.
    pub fn as_map(&self) -> Option<&Arc<Map>> {
        match self {
            Self::FrozenDict(map) | Self::Dict(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the length of a sized container.
    pub fn sized_len(&self) -> Option<usize> {
        match self {
            Self::Tuple(seq) | Self::List(seq) => Some(seq.len()),
            Self::FrozenDict(map) | Self::Dict(map) => Some(map.len()),
            Self::Set(set) => Some(set.len()),
            Self::Keys(view) | Self::Items(view) => Some(view.map.len()),
            _ => None,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        i64::try_from(value).map_or_else(|_| Self::int(value.into()), Self::Int)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::str(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::str(value)
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn values_and_results_take_three_words() {
        assert_eq!(size_of::<Value>(), 24);
        assert_eq!(size_of::<Option<Value>>(), 24);
        assert_eq!(size_of::<crate::error::Result<Option<Value>>>(), 24);
    }
}
