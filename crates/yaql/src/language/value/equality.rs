//! Equality, which is defined for every pair of values and never fails.

use std::cmp::Ordering;
use std::sync::Arc;

use super::digest::CachedDigest;
use super::{Key, Map, MapView, Meta, Seq, Set, Value};
use crate::pytext::{cmp_i64_float, cmp_int_float};

impl Value {
    /// Reports equality in the language: `1 = 1.0 = true`, containers by content, lazy values by identity.
    #[inline]
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            // The most frequent comparison, inlined because a call would take longer than the comparison.
            (Self::Str(a), Self::Str(b)) => a == b,
            _ => self.equals_any(other),
        }
    }

    fn equals_any(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Null, Self::Null) | (Self::Omitted, Self::Omitted) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Bool(a), Self::Int(b)) | (Self::Int(b), Self::Bool(a)) => i64::from(*a) == *b,
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Float(float), Self::Bool(flag)) | (Self::Bool(flag), Self::Float(float)) => {
                *float == f64::from(u8::from(*flag))
            }
            (Self::Float(float), Self::Int(int)) | (Self::Int(int), Self::Float(float)) => {
                cmp_i64_float(*int, *float) == Some(Ordering::Equal)
            }
            (Self::Float(float), Self::BigInt(int)) | (Self::BigInt(int), Self::Float(float)) => {
                cmp_int_float(int, *float) == Some(Ordering::Equal)
            }
            (Self::BigInt(a), Self::BigInt(b)) => a == b,
            (Self::Tuple(a), Self::Tuple(b)) | (Self::List(a), Self::List(b)) => {
                seqs_equal(self, a, other, b)
            }
            (Self::FrozenDict(a) | Self::Dict(a), Self::FrozenDict(b) | Self::Dict(b)) => {
                maps_equal(self, a, other, b)
            }
            (Self::DateTime(a), Self::DateTime(b)) => a == b,
            (Self::TimeSpan(a), Self::TimeSpan(b)) => a == b,
            (Self::Regex(a), Self::Regex(b)) => {
                Arc::ptr_eq(a, b) || (a.pattern() == b.pattern() && a.flags() == b.flags())
            }
            (
                Self::Set(_) | Self::Keys(_) | Self::Items(_),
                Self::Set(_) | Self::Keys(_) | Self::Items(_),
            ) => sets_equal(self, other),
            _ => self.is_same(other),
        }
    }

    /// Reports whether both are the same object. Python YAQL checks identity before equality when it
    /// searches containers, which is observable for NaN.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Values(a), Self::Values(b)) => Arc::ptr_eq(a, b),
            (Self::Ordering(a), Self::Ordering(b)) => Arc::ptr_eq(a, b),
            (Self::Iterator(a), Self::Iterator(b)) => Arc::ptr_eq(a, b),
            (Self::Context(a), Self::Context(b)) => a.address() == b.address(),
            (Self::Callable(a), Self::Callable(b)) => Arc::ptr_eq(a, b),
            (Self::Opaque(a), Self::Opaque(b)) => Arc::ptr_eq(a, b),
            (Self::Float(a), Self::Float(b)) => a.is_nan() && b.is_nan(),
            _ => false,
        }
    }

    /// Reports equality of elements, which Python YAQL uses to search containers: equal or identical.
    #[inline]
    pub fn same_or_equal(&self, item: &Self) -> bool {
        match (self, item) {
            (Self::Str(a), Self::Str(b)) => a == b,
            _ => self.equals_any(item) || self.is_same(item),
        }
    }
}

/// Maximum depth of containers that are compared by traversal; deeper containers are compared by digest. A
/// value may share subvalues, so traversing it could take time exponential in its depth, while digests are
/// computed once and cached.
const TRAVERSAL_DEPTH_MAX: u16 = 4;

/// A container with its metadata and its digest, if that is cached.
struct Container<'a> {
    value: &'a Value,
    meta: Meta,
    digest: Option<&'a CachedDigest>,
}

/// Compares two containers by digest if both digests are cached or the containers are deep; `None` otherwise.
fn by_digest(a: &Container<'_>, b: &Container<'_>) -> Option<bool> {
    match (a.digest, b.digest) {
        (Some(a), Some(b)) => Some({ a.digest } == { b.digest }),
        _ if a.meta.depth != b.meta.depth => None,
        _ if a.meta.depth > TRAVERSAL_DEPTH_MAX => Some(a.value.digest() == b.value.digest()),
        _ => None,
    }
}

fn seqs_equal(left: &Value, a: &Arc<Seq>, right: &Value, b: &Arc<Seq>) -> bool {
    if Arc::ptr_eq(a, b) {
        return true;
    }
    if a.len() != b.len() {
        return false;
    }
    let left = Container { value: left, meta: a.meta(), digest: a.digest.get() };
    let right = Container { value: right, meta: b.meta(), digest: b.digest.get() };
    by_digest(&left, &right).unwrap_or_else(|| a.iter().zip(b.iter()).all(|(a, b)| a.same_or_equal(b)))
}

fn maps_equal(left: &Value, a: &Arc<Map>, right: &Value, b: &Arc<Map>) -> bool {
    if Arc::ptr_eq(a, b) {
        return true;
    }
    if a.len() != b.len() {
        return false;
    }
    // Equal maps usually have their keys in the same order, so the same index is tried first.
    let has_entry = |index: usize, key: &Key, value: &Value| match b.entry(index) {
        Some((probe, other)) if matches!((key.value(), probe), (Value::Str(a), Value::Str(b)) if a == b) => {
            value.same_or_equal(other)
        }
        _ => b.get_key(key).is_some_and(|other| value.same_or_equal(other)),
    };
    let mut entries = a.iter_keys().zip(a.iter()).enumerate();
    let left = Container { value: left, meta: a.meta(), digest: a.digest.get() };
    let right = Container { value: right, meta: b.meta(), digest: b.digest.get() };
    by_digest(&left, &right)
        .unwrap_or_else(|| entries.all(|(index, (key, (_, value)))| has_entry(index, key, value)))
}

fn sets_equal(a: &Value, b: &Value) -> bool {
    a.sized_len() == b.sized_len() && is_subset(a, b)
}

/// Reports whether every element of one set-like value is in the other.
pub(crate) fn is_subset(a: &Value, b: &Value) -> bool {
    match a {
        Value::Set(set) => set.iter().all(|item| set_contains(b, item)),
        Value::Keys(view) => view.map.iter().all(|(key, _)| set_contains(b, key)),
        Value::Items(view) => {
            (0..view.map.len()).all(|index| view.map.pair(index).is_some_and(|pair| set_contains(b, &pair)))
        }
        _ => false,
    }
}

/// Reports membership in a set-like value. Unhashable values are in no set.
pub(crate) fn set_contains(set: &Value, item: &Value) -> bool {
    match set {
        Value::Set(set) => Key::new(item.clone()).is_ok_and(|key| Set::contains(set, &key)),
        Value::Keys(view) => view.map.get(item).is_ok_and(|entry| entry.is_some()),
        Value::Items(view) => items_contain(view, item),
        _ => false,
    }
}

fn items_contain(view: &MapView, item: &Value) -> bool {
    let Value::Tuple(pair) = item else { return false };
    let [key, value] = &pair[..] else { return false };
    view.map.get(key).is_ok_and(|entry| entry.is_some_and(|entry| entry.same_or_equal(value)))
}
