//! Walking collections together with the collections in them.

use crate::eval::Cursor;
use crate::stdlib::prelude::*;
use crate::value::KindSet;

/// Elements of a collection; those of the given kinds are walked in their turn.
pub(super) struct Opening {
    outer: Cursor,
    inner: Vec<Cursor>,
    opened: KindSet,
}

impl Opening {
    pub(super) fn new(outer: Cursor, opened: KindSet) -> Self {
        Self { outer, inner: Vec::new(), opened }
    }
}

impl Lazy for Opening {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        loop {
            let item = match self.inner.last_mut() {
                Some(cursor) => cursor.next(cx)?,
                None => self.outer.next(cx)?,
            };
            match item {
                Some(item) if self.opened.has(item.kind()) => {
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

/// An iterator over arguments in which iterators, and no other collections, are opened.
pub(super) fn open_iterators(cx: &mut Cx<'_>, arguments: Vec<Value>) -> Result<Value> {
    let arguments = cx.tuple(arguments)?;
    let depth = arguments.depth();
    let outer = cx.cursor(arguments)?;
    cx.lazy(Opening::new(outer, KindSet::Iterator), depth)
}
