//! Sequences, the storage of tuples and lists.

use std::ops::Deref;
use std::sync::OnceLock;

use super::digest::CachedDigest;
use super::{Meta, Value};

/// An immutable sequence of values. For the field order see [`super::Map`].
#[derive(Debug)]
#[repr(C)]
pub struct Seq {
    meta: Meta,
    items: Vec<Value>,
    pub(super) digest: OnceLock<CachedDigest>,
}

impl Seq {
    pub fn new(items: Vec<Value>) -> Self {
        let mut meta = Meta::new(items.len());
        for item in &items {
            meta.include(item);
        }
        Self { meta, digest: OnceLock::new(), items }
    }

    pub fn meta(&self) -> Meta {
        self.meta
    }
}

impl Deref for Seq {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.items
    }
}
