//! What several queries share.

use std::sync::Arc;

use crate::eval::Ctx;
use crate::stdlib::prelude::*;
use crate::value::{Seq, Table, number, size};

/// Values met before, compared as keys of a map are.
#[derive(Default)]
pub(super) struct Seen(Table<()>);

impl Seen {
    /// Says whether the value is new. One that cannot be hashed is an error.
    pub(super) fn insert(&mut self, cx: &mut Cx<'_>, value: &Value) -> Result<bool> {
        value.check_hashable()?;
        if self.0.find(|| value.table_hash(), |known| known.value().same_or_equal(value)).is_some() {
            return Ok(false);
        }
        self.0.push(Key::new(value.clone())?, ());
        cx.charge(64)?;
        cx.check_bytes(size::set_size(self.0.len()))?;
        Ok(true)
    }
}

/// The sequences that `toList` makes: tuples, unless a layer of the library has another idea.
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

/// Everything in a collection, for queries that need to see all of it.
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

/// A collection that can be walked again and again: what is lazy remembers, under the limit.
pub(super) fn memorized(cx: &mut Cx<'_>, collection: Value) -> Result<Value> {
    match collection {
        Value::Iterator(ref cell) if cell.is_memo() => Ok(collection),
        Value::Iterator(_) | Value::Ordering(_) | Value::Values(_) => {
            let once = walked_once(cx, collection)?;
            cx.memorize(once)
        }
        other => Ok(other),
    }
}

/// A collection as an `iter` parameter hands it on: what is lazy becomes an iterator of its own.
pub(super) fn walked_once(cx: &mut Cx<'_>, collection: Value) -> Result<Value> {
    match collection {
        Value::Iterator(_) | Value::Ordering(_) | Value::Values(_) => {
            let source = cx.iterate(collection)?;
            let depth = source.depth();
            cx.lazy(source, depth)
        }
        other => Ok(other),
    }
}

/// Integers that go on for ever.
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

/// Folds from the left. Without an initial value the first element is it, unexamined.
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
    Box::new(error.help("give an initial value for the case that there are no elements"))
}

/// A count as the reference's slices of iterators take it: not negative and of the machine's size.
/// `stop` says which end it stands for, which shows in the message.
pub(super) fn slice_count(value: &Value, stop: bool) -> Result<u64> {
    let (count, plain) = match value {
        Value::Int(count) => (u64::try_from(*count).ok(), *count != -1),
        Value::Bool(flag) => (Some(u64::from(*flag)), true),
        _ => (None, false),
    };
    count.ok_or_else(|| {
        let what = if stop && !plain { "Stop argument" } else { "Indices" };
        let message = format!("{what} for islice() must be None or an integer: 0 <= x <= sys.maxsize.");
        Box::new(Error::value(message).help("counts are not negative here"))
    })
}

pub(super) fn stop_iteration(message: &str) -> Box<Error> {
    Box::new(Error::new(ErrorClass::StopIteration, message))
}

/// The error for a collection without the element that was asked for.
pub(super) fn no_element(function: &str) -> Box<Error> {
    let mut error = stop_iteration("");
    error.help = Some(format!("the collection is empty; `{function}(default)` gives something else then"));
    error
}

/// A collection that is cut into parts while one walks over it. Nothing is read before the first
/// element is asked for.
pub(super) struct Parts {
    source: Option<Value>,
    items: Arc<Seq>,
    to_list: ToList,
    /// Where the part begins that is not given yet.
    start: usize,
    at: usize,
}

impl Parts {
    pub(super) fn new(source: Value, to_list: ToList) -> Self {
        Self { source: Some(source), items: Arc::new(Seq::new(Vec::new())), to_list, start: 0, at: 0 }
    }

    /// The element to look at, or nothing at the end.
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

    /// The part before the current element, with which the next part begins.
    pub(super) fn cut_before(&mut self, cx: &mut Cx<'_>) -> Result<Value> {
        let part = self.items.get(self.start..self.at).unwrap_or_default().to_vec();
        self.start = self.at;
        self.to_list.make(cx, part)
    }

    /// The part before the current element, which is dropped.
    pub(super) fn cut_at(&mut self, cx: &mut Cx<'_>) -> Result<Value> {
        let part = self.cut_before(cx)?;
        self.at += 1;
        self.start = self.at;
        Ok(part)
    }

    /// What is left at the end, if anything.
    pub(super) fn rest(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        if self.start == self.at { Ok(None) } else { self.cut_before(cx).map(Some) }
    }
}
