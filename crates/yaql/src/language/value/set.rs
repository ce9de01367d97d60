//! Sets of hashable values. They preserve insertion order, which the language leaves unspecified.

use std::sync::OnceLock;

use super::digest::CachedDigest;
use super::table::Table;
use super::{Key, Meta, Value};
use crate::error::Result;

/// An immutable set.
#[derive(Debug)]
pub struct Set {
    meta: Meta,
    pub(super) digest: OnceLock<CachedDigest>,
    items: Table<()>,
}

impl Set {
    pub fn from_keys(keys: impl IntoIterator<Item = Key>) -> Self {
        let mut items = Table::default();
        for key in keys {
            items.insert(key, ());
        }
        let mut meta = Meta::new(items.len());
        for (item, ()) in items.entries() {
            meta.include(item.value());
        }
        Self { meta, digest: OnceLock::new(), items }
    }

    pub fn from_values(values: impl IntoIterator<Item = Value>) -> Result<Self> {
        let keys: Result<Vec<Key>> = values.into_iter().map(Key::new).collect();
        Ok(Self::from_keys(keys?))
    }

    pub fn meta(&self) -> Meta {
        self.meta
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.len() == 0
    }

    pub fn contains(&self, key: &Key) -> bool {
        self.items.find_key(key).is_some()
    }

    pub fn get_index(&self, index: usize) -> Option<&Value> {
        self.items.entries().get(index).map(|(key, ())| key.value())
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.iter_keys().map(Key::value)
    }

    pub fn iter_keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.items.entries().iter().map(|(key, ())| key)
    }
}
