//! Values: immutable, shared, cheap to clone.
//!
//! A container carries what later questions about it would otherwise cost a walk for: how deep it
//! is, the longest container in it, whether it can be hashed, and (on demand) a structural digest.

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

pub use digest::{Digest, Identity};
pub use kind::{Kind, KindSet};
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
/// The tag takes a whole word: with a smaller one values are copied in odd pieces when they are
/// wrapped in results, and reading such a copy back stalls the processor.
#[derive(Clone, Debug, Default)]
#[repr(u64)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    /// An integer outside `i64`; one inside is always [`Value::Int`].
    BigInt(Arc<BigInt>),
    Float(f64),
    Str(Arc<str>),
    /// What literals, data arrays and `toList()` give.
    Tuple(Arc<Seq>),
    /// What `split()` and a few others give; equal to no tuple and not hashable.
    List(Arc<Seq>),
    /// What literals and data objects give.
    FrozenDict(Arc<Map>),
    /// What `toDict()` and a few others give; not hashable.
    Dict(Arc<Map>),
    Set(Arc<Set>),
    /// Keys of a map, as a set.
    Keys(MapView),
    /// Pairs of a map, as a set.
    Items(MapView),
    /// Values of a map; behind a pointer of its own because it is equal to itself only.
    Values(Arc<MapView>),
    Ordering(Arc<OrderingCell>),
    Iterator(Arc<IterCell>),
    DateTime(Arc<DateTime>),
    TimeSpan(TimeSpan),
    Regex(Arc<Regex>),
    Context(Ctx),
    Callable(Arc<Callable>),
    /// The place of an argument that was left out, as in `[1, , 2]`.
    Omitted,
    /// A value of the embedding program, equal to itself only.
    Opaque(Arc<dyn Opaque>),
}

/// A value that only the embedding program understands, and can turn back into what it is.
pub trait Opaque: std::any::Any + Send + Sync + std::fmt::Debug {
    /// The name shown for it where a value has to be printed.
    fn type_name(&self) -> &str;
}

/// A view of a map that remembers which kind of map it was taken from.
#[derive(Clone, Debug)]
pub struct MapView {
    pub map: Arc<Map>,
    pub frozen: bool,
}

impl Value {
    pub fn str(text: impl Into<Arc<str>>) -> Self {
        Self::Str(text.into())
    }

    /// An integer in its canonical form.
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

    /// The sequence behind a tuple or a list.
    pub fn as_seq(&self) -> Option<&Arc<Seq>> {
        match self {
            Self::Tuple(seq) | Self::List(seq) => Some(seq),
            _ => None,
        }
    }

    /// The map behind either kind of map.
    pub fn as_map(&self) -> Option<&Arc<Map>> {
        match self {
            Self::FrozenDict(map) | Self::Dict(map) => Some(map),
            _ => None,
        }
    }

    /// How many elements a sized container has.
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
    fn values_and_their_results_take_three_words() {
        assert_eq!(size_of::<Value>(), 24);
        assert_eq!(size_of::<Option<Value>>(), 24);
        assert_eq!(size_of::<crate::error::Result<Option<Value>>>(), 24);
    }
}
