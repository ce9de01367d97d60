//! Helpers of the query functions.

use std::sync::Arc;

use crate::eval::Ctx;
use crate::stdlib::prelude::*;
use crate::value::{Seq, Table, number, size};

/// A set of values, compared like map keys.
#[derive(Default)]
pub(super) struct ValueSet(Table<()>);

impl ValueSet {
    /// Inserts a value and reports whether it is new. Fails if it is unhashable.
    pub(super) fn insert(&mut self, cx: &mut Cx<'_>, value: &Value) -> Result<bool> {
        value.check_hashable()?;
        if self.0.find(|| value.table_hash(), |member| member.value().same_or_equal(value)).is_some() {
            return Ok(false);
        }
        self.0.push(Key::new(value.clone())?, ());
        cx.charge(64)?;
        cx.check_bytes(size::set_size(self.0.len()))?;
        Ok(true)
    }
}

/// The kind of sequence that `toList` returns: tuples, unless a library layer redefines it.
#[derive(Clone, Copy)]
pub(super) struct ToList {
    lists: bool,
}

impl ToList {
    pub(super) fn new(cx: &mut Cx<'_>, ctx: &Ctx) -> Result<Self> {
        if !cx.has_layered_method("toList") {
            return Ok(Self { lists: false });
        }
        let sample =
            cx.call_by_name("toList", Some(Value::tuple(Vec::new())), Vec::new(), Vec::new(), ctx)?;
        Ok(Self { lists: matches!(sample, Value::List(_)) })
    }

    pub(super) fn make(self, cx: &mut Cx<'_>, items: Vec<Value>) -> Result<Value> {
        if self.lists { cx.list(items) } else { cx.tuple(items) }
    }
}

/// Collects the elements of a collection.
pub(super) fn collect(cx: &mut Cx<'_>, collection: Value) -> Result<Arc<Seq>> {
    cx.check_sized(&collection)?;
    match collection {
        Value::Tuple(seq) | Value::List(seq) => Ok(seq),
        other => {
            let items = cx.iterate(other)?.collect(cx)?;
            Ok(Arc::new(Seq::new(items)))
        }
    }
}

/// Returns a collection that can be iterated repeatedly. A lazy collection is wrapped in a caching iterator,
/// under the iterator limit.
pub(super) fn memoized(cx: &mut Cx<'_>, collection: Value) -> Result<Value> {
    match collection {
        Value::Iterator(ref cell) if cell.is_memo() => Ok(collection),
        Value::Iterator(_) | Value::Ordering(_) | Value::Values(_) => {
            let iterator = as_iterator(cx, collection)?;
            cx.memorize(iterator)
        }
        other => Ok(other),
    }
}

/// Returns a collection in the form in which an `iter` parameter receives it: a lazy collection becomes a
/// separate iterator.
pub(super) fn as_iterator(cx: &mut Cx<'_>, collection: Value) -> Result<Value> {
    match collection {
        Value::Iterator(_) | Value::Ordering(_) | Value::Values(_) => {
            let source = cx.iterate(collection)?;
            let depth = source.depth();
            cx.lazy(source, depth)
        }
        other => Ok(other),
    }
}

/// An unbounded arithmetic sequence of integers.
pub(super) struct Counter {
    next: Value,
    step: Value,
}

impl Counter {
    pub(super) fn new(start: Value, step: Value) -> Self {
        let plain = |value: Value| Value::int(number::to_big(&value));
        Self { next: plain(start), step: plain(step) }
    }

    pub(super) fn advance(&mut self, cx: &mut Cx<'_>) -> Result<Value> {
        let after = number::add(&self.next, &self.step).transpose()?.unwrap_or_default();
        if let Value::BigInt(_) = after {
            cx.charge(after.shallow_size())?;
        }
        Ok(std::mem::replace(&mut self.next, after))
    }
}

/// Folds from the left. Without an initial value, starts with the first element.
pub(super) fn fold(
    cx: &mut Cx<'_>,
    collection: Value,
    initial: Option<Value>,
    mut step: impl FnMut(&mut Cx<'_>, Value, Value) -> Result<Value>,
) -> Result<Value> {
    let mut source = cx.iterate(collection)?;
    let mut total = match initial {
        Some(initial) => initial,
        None => match source.next(cx)? {
            Some(first) => first,
            None => return Err(empty_fold()),
        },
    };
    while let Some(item) = source.next(cx)? {
        total = step(cx, total, item)?;
    }
    Ok(total)
}

fn empty_fold() -> Box<Error> {
    let error = Error::kind("reduce() of empty iterable with no initial value");
    Box::new(error.help("pass an initial value to handle an empty collection"))
}

/// Validates a count like Python YAQL's `islice`: non-negative and within a machine word. `stop` selects
/// the message for the end position.
pub(super) fn slice_count(value: &Value, stop: bool) -> Result<u64> {
    let (count, plain) = match value {
        Value::Int(count) => (u64::try_from(*count).ok(), *count != -1),
        Value::Bool(flag) => (Some(u64::from(*flag)), true),
        _ => (None, false),
    };
    count.ok_or_else(|| {
        let subject = if stop && !plain { "Stop argument" } else { "Indices" };
        let message = format!("{subject} for islice() must be None or an integer: 0 <= x <= sys.maxsize.");
        Box::new(Error::value(message).help("the count must not be negative"))
    })
}

pub(super) fn stop_iteration(message: &str) -> Box<Error> {
    Box::new(Error::new(ErrorClass::StopIteration, message))
}

/// Returns the error of a function that needs an element of an empty collection.
pub(super) fn no_element(function: &str) -> Box<Error> {
    let mut error = stop_iteration("");
    error.help =
        Some(format!("the collection is empty; use `{function}(default)` to return a default instead"));
    error
}

/// A collection that is split into parts during iteration. It is collected when the first element is
/// requested.
pub(super) struct Parts {
    source: Option<Value>,
    items: Arc<Seq>,
    to_list: ToList,
    /// Start of the current part.
    start: usize,
    at: usize,
}

impl Parts {
    pub(super) fn new(source: Value, to_list: ToList) -> Self {
        Self { source: Some(source), items: Arc::new(Seq::new(Vec::new())), to_list, start: 0, at: 0 }
    }

    /// Returns the current element, or `None` at the end.
    pub(super) fn current(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        if let Some(source) = self.source.take() {
            self.items = collect(cx, source)?;
        }
        cx.step()?;
        Ok(self.items.get(self.at).cloned())
    }

    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// Returns the part before the current element, which starts the next part.
    pub(super) fn cut_before(&mut self, cx: &mut Cx<'_>) -> Result<Value> {
        let part = self.items.get(self.start..self.at).unwrap_or_default().to_vec();
        self.start = self.at;
        self.to_list.make(cx, part)
    }

    /// Returns the part before the current element and drops that element.
    pub(super) fn cut_at(&mut self, cx: &mut Cx<'_>) -> Result<Value> {
        let part = self.cut_before(cx)?;
        self.at += 1;
        self.start = self.at;
        Ok(part)
    }

    /// Returns the last part, unless it is empty.
    pub(super) fn rest(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        if self.start == self.at { Ok(None) } else { self.cut_before(cx).map(Some) }
    }
}
