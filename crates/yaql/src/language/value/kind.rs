//! Kinds of values, and sets of kinds as parameter types.

use super::Value;

macro_rules! kinds {
    ($($kind:ident,)*) => {
        /// The type of a value for overload resolution.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum ValueKind { $($kind,)* }

        impl KindSet {
            $(
                #[allow(non_upper_case_globals, reason = "one constant per kind, spelled as the kind")]
                pub const $kind: Self = Self(1 << ValueKind::$kind as u32);
            )*
        }
    };
}

kinds! {
    Null, Bool, Int, Float, Str, Tuple, List, FrozenDict, Dict, Set, Keys, Items, Values, Ordering,
    Iterator, DateTime, TimeSpan, Regex, Context, Callable, Omitted, Opaque,
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindSet(u32);

impl KindSet {
    pub const NONE: Self = Self(0);
    pub const ANY: Self = Self(u32::MAX);
    pub const SEQ: Self = Self(Self::Tuple.0 | Self::List.0);
    pub const MAP: Self = Self(Self::FrozenDict.0 | Self::Dict.0);
    pub const SETS: Self = Self(Self::Set.0 | Self::Keys.0 | Self::Items.0);
    pub const ITER: Self =
        Self(Self::SEQ.0 | Self::SETS.0 | Self::Values.0 | Self::Ordering.0 | Self::Iterator.0);
    pub const INT: Self = Self(Self::Int.0 | Self::Bool.0);
    pub const NUMBER: Self = Self(Self::Int.0 | Self::Float.0);

    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub const fn has(self, kind: ValueKind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    /// Reports whether `self` is a proper subset of `other`.
    pub const fn is_strict_subset(self, other: Self) -> bool {
        self.0 & !other.0 == 0 && self.0 != other.0
    }
}

impl Value {
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Null => ValueKind::Null,
            Self::Bool(_) => ValueKind::Bool,
            Self::Int(_) | Self::BigInt(_) => ValueKind::Int,
            Self::Float(_) => ValueKind::Float,
            Self::Str(_) => ValueKind::Str,
            Self::Tuple(_) => ValueKind::Tuple,
            Self::List(_) => ValueKind::List,
            Self::FrozenDict(_) => ValueKind::FrozenDict,
            Self::Dict(_) => ValueKind::Dict,
            Self::Set(_) => ValueKind::Set,
            Self::Keys(_) => ValueKind::Keys,
            Self::Items(_) => ValueKind::Items,
            Self::Values(_) => ValueKind::Values,
            Self::Ordering(_) => ValueKind::Ordering,
            Self::Iterator(_) => ValueKind::Iterator,
            Self::DateTime(_) => ValueKind::DateTime,
            Self::TimeSpan(_) => ValueKind::TimeSpan,
            Self::Regex(_) => ValueKind::Regex,
            Self::Context(_) => ValueKind::Context,
            Self::Callable(_) => ValueKind::Callable,
            Self::Omitted => ValueKind::Omitted,
            Self::Opaque(_) => ValueKind::Opaque,
        }
    }

    /// Returns the name of the type in Python YAQL's messages.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Null => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::BigInt(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::Tuple(_) => "tuple",
            Self::List(_) => "list",
            Self::FrozenDict(_) => "FrozenDict",
            Self::Dict(_) => "dict",
            Self::Set(_) => "frozenset",
            Self::Keys(view) => {
                if view.frozen {
                    "KeysView"
                } else {
                    "dict_keys"
                }
            }
            Self::Items(view) => {
                if view.frozen {
                    "ItemsView"
                } else {
                    "dict_items"
                }
            }
            Self::Values(view) => {
                if view.frozen {
                    "ValuesView"
                } else {
                    "dict_values"
                }
            }
            Self::Ordering(_) => "OrderingIterable",
            Self::Iterator(_) => "generator",
            Self::DateTime(_) => "datetime.datetime",
            Self::TimeSpan(_) => "datetime.timedelta",
            Self::Regex(_) => "re.Pattern",
            Self::Context(_) => "Context",
            Self::Callable(_) => "function",
            Self::Omitted => "MarkerClass",
            Self::Opaque(opaque) => opaque.type_name(),
        }
    }
}
