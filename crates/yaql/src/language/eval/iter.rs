//! Iteration: lazy iterators, and cursors over every iterable value.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::context::deeper;
use super::ordering::OrderingCell;
use super::{Cx, with_stack};
use crate::error::{Error, ErrorClass, Result};
use crate::value::{Map, Seq, Set, Value};

/// A lazy computation that produces one element per call.
pub trait Lazy: Send {
    /// Returns the next element, or `None` at the end.
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>>;
}

/// The state of an iterator value. All clones share one position.
pub struct IterCell {
    state: IterState,
    depth: u16,
}

enum IterState {
    /// A single-pass iterator.
    Once(Mutex<LazySlot>),
    /// An iterator that caches its elements, so that each new cursor starts at the first element.
    Memo(Mutex<Memo>),
}

struct Memo {
    items: Vec<Value>,
    source: Cursor,
}

impl Drop for Memo {
    fn drop(&mut self) {
        with_stack(|| drop(std::mem::take(&mut self.items)));
    }
}

/// Boxed lazy work. Its values may be nested more deeply than when it was created and may contain further
/// lazy work, so it is dropped with enough stack for the recursion.
pub struct LazySlot(Option<Box<dyn Lazy>>);

impl LazySlot {
    fn new(work: impl Lazy + 'static) -> Self {
        Self(Some(Box::new(work)))
    }

    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        match &mut self.0 {
            Some(work) => work.next(cx),
            None => Ok(None),
        }
    }
}

impl Drop for LazySlot {
    fn drop(&mut self) {
        with_stack(|| drop(self.0.take()));
    }
}

impl IterCell {
    pub fn depth(&self) -> u16 {
        self.depth
    }

    pub fn is_memo(&self) -> bool {
        matches!(self.state, IterState::Memo(_))
    }
}

impl fmt::Debug for IterCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IterCell")
    }
}

/// A position in an iterable value.
#[repr(u64)]
pub enum Cursor {
    Seq(Arc<Seq>, usize),
    Set(Arc<Set>, usize),
    Keys(Arc<Map>, usize),
    Items(Arc<Map>, usize),
    Values(Arc<Map>, usize),
    /// Characters of a string, for the few functions where Python YAQL iterates over strings.
    Chars(Arc<str>, usize),
    Owned(Box<dyn Lazy>),
    /// State of an iterator without other references.
    Taken(LazySlot),
    Shared(Arc<IterCell>),
    Memo(Arc<IterCell>, usize),
    Ordering(Arc<OrderingCell>, Option<Arc<Seq>>, usize),
}

impl Cursor {
    #[inline]
    pub fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        cx.step()?;
        match self {
            Self::Seq(seq, at) => Ok(advance(seq.get(*at), at)),
            Self::Set(set, at) => Ok(advance(set.get_index(*at), at)),
            Self::Keys(map, at) => Ok(advance(map.entry(*at).map(|(key, _)| key), at)),
            Self::Items(map, at) => {
                let pair = map.pair(*at);
                *at += usize::from(pair.is_some());
                Ok(pair)
            }
            Self::Values(map, at) => Ok(advance(map.entry(*at).map(|(_, value)| value), at)),
            Self::Chars(text, at) => Ok(next_char(text, at)),
            Self::Owned(lazy) => cx.with_pull(|cx| lazy.next(cx)),
            Self::Taken(work) => cx.with_pull(|cx| work.next(cx)),
            Self::Shared(cell) => cx.with_pull(|cx| next_shared(cell, cx)),
            Self::Memo(cell, at) => cx.with_pull(|cx| next_memoized(cell, at, cx)),
            Self::Ordering(cell, sorted, at) => {
                if sorted.is_none() {
                    *sorted = Some(cell.sorted(cx)?);
                }
                Ok(advance(sorted.as_ref().and_then(|seq| seq.get(*at)), at))
            }
        }
    }

    /// Returns the number of remaining elements if it is known without iterating, otherwise 0.
    pub fn size_hint(&self) -> usize {
        match self {
            Self::Seq(seq, at) => seq.len() - at,
            Self::Set(set, at) => set.len() - at,
            Self::Keys(map, at) | Self::Items(map, at) | Self::Values(map, at) => map.len() - at,
            _ => 0,
        }
    }

    /// Returns the recursion depth of dropping this cursor.
    pub fn depth(&self) -> u16 {
        match self {
            Self::Seq(seq, _) => seq.meta().depth,
            Self::Set(set, _) => set.meta().depth,
            Self::Keys(map, _) | Self::Items(map, _) | Self::Values(map, _) => map.meta().depth,
            Self::Chars(..) => 0,
            // The depth was accounted for by the cell from which the work was taken.
            Self::Owned(_) | Self::Taken(_) => 0,
            Self::Shared(cell) | Self::Memo(cell, _) => cell.depth,
            Self::Ordering(cell, ..) => cell.depth(),
        }
    }
}

/// Returns a copy of an element and advances the position. Inlined so that the copy is constructed in the
/// caller's storage: moving a value right after writing it causes a store-forwarding stall.
#[inline]
fn advance(item: Option<&Value>, at: &mut usize) -> Option<Value> {
    *at += usize::from(item.is_some());
    item.cloned()
}

fn next_char(text: &str, at: &mut usize) -> Option<Value> {
    let letter = text[*at..].chars().next()?;
    *at += letter.len_utf8();
    Some(Value::str(letter.encode_utf8(&mut [0; 4]) as &str))
}

fn next_shared(cell: &IterCell, cx: &mut Cx<'_>) -> Result<Option<Value>> {
    let IterState::Once(state) = &cell.state else { return Ok(None) };
    let Some(mut lazy) = state.try_lock() else {
        return Err(Box::new(Error::value("generator already executing")));
    };
    lazy.next(cx)
}

fn next_memoized(cell: &IterCell, at: &mut usize, cx: &mut Cx<'_>) -> Result<Option<Value>> {
    let IterState::Memo(memo) = &cell.state else { return Ok(None) };
    let Some(mut memo) = memo.try_lock() else {
        return Err(Box::new(Error::value("generator already executing")));
    };
    if *at == memo.items.len() {
        let Some(item) = memo.source.next(cx)? else { return Ok(None) };
        memo.items.push(item);
        cx.check_bytes(56 + 8 * memo.items.len() as u64)?;
        cx.charge(24)?;
    }
    *at += 1;
    Ok(memo.items.get(*at - 1).cloned())
}

/// A cursor that fails after more elements than the iterator limit allows.
pub struct LimitedCursor {
    cursor: Cursor,
    remaining: usize,
    depth: u16,
}

impl LimitedCursor {
    #[inline]
    pub fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        // The length of a sequence was checked by `Cx::iterate`.
        if let Cursor::Seq(seq, at) = &mut self.cursor {
            cx.step()?;
            return Ok(advance(seq.get(*at), at));
        }
        self.next_counted(cx)
    }

    fn next_counted(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let item = self.cursor.next(cx)?;
        if item.is_some() {
            if self.remaining == 0 {
                return Err(cx.too_large());
            }
            self.remaining -= 1;
        }
        Ok(item)
    }

    pub fn size_hint(&self) -> usize {
        self.cursor.size_hint()
    }

    pub fn depth(&self) -> u16 {
        self.depth
    }

    /// Consumes the remaining elements.
    pub fn collect(mut self, cx: &mut Cx<'_>) -> Result<Vec<Value>> {
        let mut items = Vec::with_capacity(self.size_hint());
        while let Some(item) = self.next(cx)? {
            cx.charge(24)?;
            items.push(item);
            cx.check_bytes(40 + 8 * items.len() as u64)?;
        }
        Ok(items)
    }
}

impl Lazy for LimitedCursor {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        LimitedCursor::next(self, cx)
    }
}

impl Cx<'_> {
    /// Pulls an element from a nested iterator. Chains of iterators can be deep, so the stack is checked
    /// every eight levels.
    #[inline]
    fn with_pull<R>(&mut self, pull: impl FnOnce(&mut Self) -> R) -> R {
        self.pull_depth += 1;
        let result = if self.pull_depth.is_multiple_of(8) { with_stack(|| pull(self)) } else { pull(self) };
        self.pull_depth -= 1;
        result
    }

    /// Creates a single-pass iterator. `depth` is the nesting depth of the values in `work`.
    pub fn lazy(&mut self, work: impl Lazy + 'static, depth: u16) -> Result<Value> {
        self.charge(64)?;
        let state = IterState::Once(Mutex::new(LazySlot::new(work)));
        Ok(Value::Iterator(Arc::new(IterCell { state, depth: deeper(depth)? })))
    }

    /// Wraps a single-pass iterator so that it can be iterated repeatedly. Other collections are returned
    /// unchanged.
    pub fn memorize(&mut self, collection: Value) -> Result<Value> {
        match collection {
            Value::Iterator(cell) if !cell.is_memo() => {
                let depth = deeper(cell.depth())?;
                let source = self.cursor(Value::Iterator(cell))?;
                let memo = Memo { items: Vec::new(), source };
                Ok(Value::Iterator(Arc::new(IterCell { state: IterState::Memo(Mutex::new(memo)), depth })))
            }
            other => Ok(other),
        }
    }

    /// Starts an iteration without a limit over any value that Python YAQL can iterate over.
    pub fn cursor(&mut self, collection: Value) -> Result<Cursor> {
        Ok(match collection {
            Value::Tuple(seq) | Value::List(seq) => Cursor::Seq(seq, 0),
            Value::Set(set) => Cursor::Set(set, 0),
            Value::FrozenDict(map) | Value::Dict(map) => Cursor::Keys(map, 0),
            Value::Keys(view) => Cursor::Keys(view.map, 0),
            Value::Items(view) => Cursor::Items(view.map, 0),
            Value::Values(view) => Cursor::Values(view.map.clone(), 0),
            Value::Ordering(cell) => Cursor::Ordering(cell, None, 0),
            Value::Iterator(cell) if cell.is_memo() => Cursor::Memo(cell, 0),
            Value::Iterator(cell) => match Arc::try_unwrap(cell) {
                Ok(IterCell { state: IterState::Once(lazy), .. }) => Cursor::Taken(lazy.into_inner()),
                Ok(cell) => Cursor::Shared(Arc::new(cell)),
                Err(shared) => Cursor::Shared(shared),
            },
            Value::Str(text) => Cursor::Chars(text, 0),
            other => {
                if matches!(other, Value::Context(_)) {
                    return Err(context_iteration_error());
                }
                let message = format!("'{}' object is not iterable", other.type_name());
                return Err(Box::new(Error::kind(message)));
            }
        })
    }

    /// Starts an iteration under the iterator limit, as for every `iter` parameter.
    pub fn iterate(&mut self, collection: Value) -> Result<LimitedCursor> {
        self.check_sized(&collection)?;
        let depth = collection.depth();
        let remaining = usize::try_from(self.options.limit_iterators).unwrap_or(usize::MAX);
        Ok(LimitedCursor { cursor: self.cursor(collection)?, remaining, depth })
    }

    /// Fails if the length of a sized collection exceeds the iterator limit.
    pub(crate) fn check_sized(&self, collection: &Value) -> Result<()> {
        match (collection.sized_len(), usize::try_from(self.options.limit_iterators)) {
            (Some(len), Ok(limit)) if len > limit => Err(self.too_large()),
            _ => Ok(()),
        }
    }

    pub(super) fn too_large(&self) -> Box<Error> {
        let message = format!("Collection length exceeds {} elements", self.options.limit_iterators);
        Box::new(Error::new(ErrorClass::CollectionTooLarge, message))
    }
}

/// Creates a single-pass iterator over existing values.
pub fn iterator_of(items: Vec<Value>) -> Result<Value> {
    struct Items(Cursor);
    impl Lazy for Items {
        fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
            self.0.next(cx)
        }
    }
    let seq = Seq::new(items);
    let depth = deeper(seq.meta().depth)?;
    let state = IterState::Once(Mutex::new(LazySlot::new(Items(Cursor::Seq(Arc::new(seq), 0)))));
    Ok(Value::Iterator(Arc::new(IterCell { state, depth })))
}

/// Returns the error of iterating over a context: Python YAQL treats it as a sequence of variables named 0,
/// 1, ….
fn context_iteration_error() -> Box<Error> {
    Box::new(Error::new(ErrorClass::Attribute, "'int' object has no attribute 'startswith'"))
}
