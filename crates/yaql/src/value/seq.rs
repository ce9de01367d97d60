//! Sequences: what tuples and lists are made of.

use std::ops::Deref;
use std::sync::OnceLock;

use super::{Digest, Meta, Value};

/// An immutable sequence of values.
#[derive(Debug)]
pub struct Seq {
    meta: Meta,
    pub(super) digest: OnceLock<Digest>,
    items: Vec<Value>,
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
