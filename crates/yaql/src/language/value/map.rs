//! Insertion-ordered maps with hashable keys.

use std::sync::OnceLock;

use super::digest::{CachedDigest, hash_str, hash_value};
use super::table::Table;
use super::{Meta, Value};
use crate::error::Result;

/// An immutable map that preserves insertion order.
///
/// The field order puts what every reader needs first, into the same cache line as the reference count.
#[derive(Debug)]
#[repr(C)]
pub struct Map {
    meta: Meta,
    entries: Table<Value>,
    pub(super) digest: OnceLock<CachedDigest>,
}

/// A hashable value.
#[derive(Clone, Debug)]
pub struct Key(Value);

/// A string key with its hash, for lookups without constructing a value.
pub struct StrKey<'a> {
    pub text: &'a [u8],
    pub hash: u64,
}

impl<'a> StrKey<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), hash: hash_str(text) }
    }
}

impl Key {
    /// Fails if the value is unhashable, with Python YAQL's message.
    pub fn new(value: Value) -> Result<Self> {
        value.check_hashable()?;
        Ok(Self(value))
    }

    pub fn value(&self) -> &Value {
        &self.0
    }

    pub fn into_value(self) -> Value {
        self.0
    }

    pub(crate) fn hash(&self) -> u64 {
        hash_value(&self.0)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0.same_or_equal(&other.0)
    }
}

impl Eq for Key {}

impl StrKey<'_> {
    #[inline]
    fn is(&self, key: &Key) -> bool {
        matches!(&key.0, Value::Str(text) if text.as_bytes() == self.text)
    }
}

/// Collects entries for a [`Map`].
#[derive(Debug, Default)]
pub struct MapBuilder {
    entries: Table<Value>,
}

impl MapBuilder {
    pub fn with_capacity(capacity: usize) -> Self {
        Self { entries: Table::with_capacity(capacity) }
    }

    /// Sets a key. An existing key keeps its position and representation.
    pub fn insert(&mut self, key: Value, value: Value) -> Result<()> {
        self.entries.insert(Key::new(key)?, value);
        Ok(())
    }

    pub fn insert_key(&mut self, key: Key, value: Value) {
        self.entries.insert(key, value);
    }

    /// Appends a key that must not exist yet.
    pub(crate) fn push_key(&mut self, key: Key, value: Value) {
        self.entries.push(key, value);
    }

    /// Sets every key of a map.
    pub fn extend(&mut self, map: &Map) {
        for (key, value) in map.entries.entries() {
            self.entries.insert(key.clone(), value.clone());
        }
    }

    /// Retains the entries whose index satisfies the predicate.
    pub fn retain(&mut self, fits: impl FnMut(usize) -> bool) {
        self.entries.retain(fits);
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.len() == 0
    }

    pub fn build(self) -> Map {
        let mut meta = Meta::new(self.entries.len());
        for (key, value) in self.entries.entries() {
            if !matches!(key.0, Value::Str(_)) {
                // Output conversion changes or rejects container keys, so such maps are not plain.
                meta.include(&key.0);
                meta.plain &= key.0.depth() == 0;
            }
            meta.include(value);
        }
        Map { meta, digest: OnceLock::new(), entries: self.entries }
    }
}

impl Map {
    pub fn builder() -> MapBuilder {
        MapBuilder::default()
    }

    /// Creates a map from entries with string keys.
    pub fn from_strings(entries: impl IntoIterator<Item = (impl Into<std::sync::Arc<str>>, Value)>) -> Self {
        let mut builder = MapBuilder::default();
        for (key, value) in entries {
            builder.insert_key(Key(Value::Str(key.into())), value);
        }
        builder.build()
    }

    /// Returns a builder with the entries of this map.
    pub fn to_builder(&self) -> MapBuilder {
        MapBuilder { entries: self.entries.clone() }
    }

    pub fn meta(&self) -> Meta {
        self.meta
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.len() == 0
    }

    pub fn get_str(&self, key: &str) -> Option<&Value> {
        let bytes = StrKey { text: key.as_bytes(), hash: 0 };
        self.at(self.entries.find(|| hash_str(key), |candidate| bytes.is(candidate)))
    }

    /// Returns a string key with its value, to be inserted into another map.
    pub fn get_entry(&self, key: &str) -> Option<(&Key, &Value)> {
        let bytes = StrKey { text: key.as_bytes(), hash: 0 };
        let index = self.entries.find(|| hash_str(key), |candidate| bytes.is(candidate))?;
        self.entries.entries().get(index).map(|(key, value)| (key, value))
    }

    /// Looks up a string key by precomputed hash.
    #[inline]
    pub fn get_hashed(&self, key: &StrKey<'_>) -> Option<&Value> {
        self.at(self.entries.find(|| key.hash, |candidate| key.is(candidate)))
    }

    /// Returns the index of a string key, by precomputed hash.
    #[inline]
    pub(crate) fn find_hashed(&self, key: &StrKey<'_>) -> Option<usize> {
        self.entries.find(|| key.hash, |candidate| key.is(candidate))
    }

    /// Returns the value of the entry at `index` if it has this key.
    #[inline]
    pub(crate) fn get_at(&self, index: usize, key: &StrKey<'_>) -> Option<&Value> {
        let (candidate, value) = self.entries.entries().get(index)?;
        key.is(candidate).then_some(value)
    }

    #[inline]
    fn at(&self, index: Option<usize>) -> Option<&Value> {
        Some(&self.entries.entries().get(index?)?.1)
    }

    /// Looks up a key. Fails if it is unhashable.
    pub fn get(&self, key: &Value) -> Result<Option<&Value>> {
        Ok(self.at(self.position(key)?))
    }

    pub fn get_key(&self, key: &Key) -> Option<&Value> {
        self.at(self.entries.find_key(key))
    }

    /// Returns the index of a key. Fails if it is unhashable.
    pub fn position(&self, key: &Value) -> Result<Option<usize>> {
        if let Value::Str(text) = key {
            let key = StrKey { text: text.as_bytes(), hash: 0 };
            return Ok(self.entries.find(|| hash_str(text), |candidate| key.is(candidate)));
        }
        key.check_hashable()?;
        Ok(self.entries.find(|| hash_value(key), |candidate| candidate.0.same_or_equal(key)))
    }

    pub fn contains_key(&self, key: &Key) -> bool {
        self.entries.find_key(key).is_some()
    }

    pub fn entry(&self, index: usize) -> Option<(&Value, &Value)> {
        self.entries.entries().get(index).map(|(key, value)| (&key.0, value))
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Value, &Value)> {
        self.entries.entries().iter().map(|(key, value)| (&key.0, value))
    }

    pub fn iter_keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.entries.entries().iter().map(|(key, _)| key)
    }

    /// Returns the entry at an index as a `(key, value)` tuple, as `items()` does.
    pub fn pair(&self, index: usize) -> Option<Value> {
        self.entry(index).map(|(key, value)| Value::tuple(vec![key.clone(), value.clone()]))
    }
}
