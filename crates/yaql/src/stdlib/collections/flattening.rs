//! Flattening of nested collections.

use crate::eval::Cursor;
use crate::stdlib::prelude::*;
use crate::value::KindSet;

/// Iterates over a collection and replaces elements of the given kinds by their elements, recursively.
pub(super) struct Flatten {
    outer: Cursor,
    inner: Vec<Cursor>,
    flattened_kinds: KindSet,
}

impl Flatten {
    pub(super) fn new(outer: Cursor, flattened_kinds: KindSet) -> Self {
        Self { outer, inner: Vec::new(), flattened_kinds }
    }
}

impl Lazy for Flatten {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        loop {
            let item = match self.inner.last_mut() {
                Some(cursor) => cursor.next(cx)?,
                None => self.outer.next(cx)?,
            };
            match item {
                Some(item) if self.flattened_kinds.has(item.kind()) => {
                    cx.charge(64)?;
                    self.inner.push(cx.cursor(item)?);
                }
                Some(item) => return Ok(Some(item)),
                None if self.inner.pop().is_none() => return Ok(None),
                None => {}
            }
        }
    }
}

/// Returns an iterator over arguments in which iterators, but no other collections, are flattened.
pub(super) fn flatten_iterators(cx: &mut Cx<'_>, arguments: Vec<Value>) -> Result<Value> {
    let arguments = cx.tuple(arguments)?;
    let depth = arguments.depth();
    let outer = cx.cursor(arguments)?;
    cx.lazy(Flatten::new(outer, KindSet::Iterator), depth)
}
