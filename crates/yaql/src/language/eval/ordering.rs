//! Orderings, the results of `orderBy`: sorted once, on first iteration.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::context::deeper;
use super::{Ctx, Cx, Lambda, LimitedCursor};
use crate::error::Result;
use crate::syntax::BinaryOp;
use crate::value::{Seq, Value};

/// A collection with its sort keys.
pub struct OrderingCell {
    state: Mutex<State>,
    /// The context in which `<` and `>` are looked up.
    ctx: Ctx,
    depth: u16,
}

#[derive(Default)]
struct State {
    source: Option<LimitedCursor>,
    keys: Vec<SortKey>,
    sorted: Option<Arc<Seq>>,
}

/// Drops with enough stack: elements may be nested more deeply than the collection was when it was ordered.
impl Drop for State {
    fn drop(&mut self) {
        super::with_stack(|| {
            self.sorted = None;
            self.keys.clear();
        });
    }
}

struct SortKey {
    selector: Lambda,
    ascending: bool,
}

impl fmt::Debug for OrderingCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OrderingCell")
    }
}

impl OrderingCell {
    pub fn new(source: LimitedCursor, selector: Lambda, ascending: bool, ctx: Ctx) -> Result<Arc<Self>> {
        let depth = deeper(source.depth().max(selector.depth()).max(ctx.depth()))?;
        let keys = vec![SortKey { selector, ascending }];
        let state = State { source: Some(source), keys, sorted: None };
        Ok(Arc::new(Self { state: Mutex::new(state), ctx, depth }))
    }

    /// Appends a sort key in place, visible through every reference to this ordering. Has no effect once
    /// sorted.
    pub fn then_by(self: &Arc<Self>, cx: &mut Cx<'_>, selector: Lambda, ascending: bool) {
        self.state.lock().keys.push(SortKey { selector, ascending });
        cx.track_ordering(self);
    }

    pub fn depth(&self) -> u16 {
        self.depth
    }

    /// Drops the selectors. A selector may contain a context that references this ordering; such a reference
    /// cycle would never be freed.
    pub(super) fn release(&self) {
        let mut state = self.state.lock();
        state.keys.clear();
        state.source = None;
    }

    pub(super) fn sorted(&self, cx: &mut Cx<'_>) -> Result<Arc<Seq>> {
        let mut state = std::mem::take(&mut *self.state.lock());
        let result = state.sort(cx, &self.ctx);
        *self.state.lock() = state;
        result
    }
}

impl State {
    fn sort(&mut self, cx: &mut Cx<'_>, ctx: &Ctx) -> Result<Arc<Seq>> {
        if let Some(sorted) = &self.sorted {
            return Ok(sorted.clone());
        }
        let items = match self.source.take() {
            Some(source) => source.collect(cx)?,
            None => Vec::new(),
        };
        let sorted = Arc::new(Seq::new(sort_items(items, &mut self.keys, cx, ctx)?));
        self.sorted = Some(sorted.clone());
        Ok(sorted)
    }
}

fn sort_items(items: Vec<Value>, keys: &mut [SortKey], cx: &mut Cx<'_>, ctx: &Ctx) -> Result<Vec<Value>> {
    if items.len() < 2 {
        // Python YAQL calls selectors only when it compares, so they are not called for a single element.
        return Ok(items);
    }
    let mut order: Vec<u32> = (0..items.len() as u32).collect();
    let mut table = KeyTable { columns: vec![vec![None; items.len()]; keys.len()], keys, items: &items, ctx };
    merge_sort(&mut order, &mut |left, right| table.compare(left, right, cx))?;
    Ok(order.into_iter().map(|index| items[index as usize].clone()).collect())
}

/// Sort keys of the elements, computed on demand.
struct KeyTable<'a> {
    keys: &'a mut [SortKey],
    columns: Vec<Vec<Option<Value>>>,
    items: &'a [Value],
    ctx: &'a Ctx,
}

impl KeyTable<'_> {
    fn compare(&mut self, left: u32, right: u32, cx: &mut Cx<'_>) -> Result<Ordering> {
        for key in 0..self.keys.len() {
            self.fill(key, left, cx)?;
            self.fill(key, right, cx)?;
            let column = &self.columns[key];
            let (Some(a), Some(b)) = (&column[left as usize], &column[right as usize]) else { continue };
            let ordering = cx.compare(a, b, self.ctx)?;
            if ordering != Ordering::Equal {
                return Ok(if self.keys[key].ascending { ordering } else { ordering.reverse() });
            }
        }
        Ok(Ordering::Equal)
    }

    fn fill(&mut self, key: usize, index: u32, cx: &mut Cx<'_>) -> Result<()> {
        let cell = &mut self.columns[key][index as usize];
        if cell.is_none() {
            *cell = Some(self.keys[key].selector.call1(cx, self.items[index as usize].clone())?);
        }
        Ok(())
    }
}

/// Sorts stably by merging, with a fallible comparison. The comparison need not be a total order (NaN
/// compares equal to every number), for which `slice::sort_by` may panic.
fn merge_sort(order: &mut [u32], compare: &mut impl FnMut(u32, u32) -> Result<Ordering>) -> Result<()> {
    const RUN: usize = 8;
    for run in order.chunks_mut(RUN) {
        for end in 1..run.len() {
            let mut at = end;
            while at > 0 && compare(run[at], run[at - 1])? == Ordering::Less {
                run.swap(at, at - 1);
                at -= 1;
            }
        }
    }
    let mut buffer = order.to_vec();
    let mut width = RUN;
    while width < order.len() {
        for start in (0..order.len()).step_by(2 * width) {
            let middle = (start + width).min(order.len());
            let end = (start + 2 * width).min(order.len());
            merge(&order[start..middle], &order[middle..end], &mut buffer[start..end], compare)?;
        }
        order.copy_from_slice(&buffer);
        width *= 2;
    }
    Ok(())
}

fn merge(
    left: &[u32],
    right: &[u32],
    out: &mut [u32],
    compare: &mut impl FnMut(u32, u32) -> Result<Ordering>,
) -> Result<()> {
    let (mut l, mut r) = (0, 0);
    for slot in out {
        let take_right = match (left.get(l), right.get(r)) {
            (Some(a), Some(b)) => compare(*b, *a)? == Ordering::Less,
            (None, _) => true,
            (_, None) => false,
        };
        let from = if take_right { (right, &mut r) } else { (left, &mut l) };
        *slot = from.0[*from.1];
        *from.1 += 1;
    }
    Ok(())
}

impl Cx<'_> {
    /// Compares two keys with the `<` and `>` operators of the language.
    pub(super) fn compare(&mut self, a: &Value, b: &Value, ctx: &Ctx) -> Result<Ordering> {
        if !self.slow {
            match (a, b) {
                (Value::Str(a), Value::Str(b)) => return Ok(a.cmp(b)),
                (Value::Int(a), Value::Int(b)) => return Ok(a.cmp(b)),
                _ => {}
            }
        }
        if self.operator(BinaryOp::Lt, a.clone(), b.clone(), ctx)?.is_true() {
            return Ok(Ordering::Less);
        }
        if self.operator(BinaryOp::Gt, a.clone(), b.clone(), ctx)?.is_true() {
            return Ok(Ordering::Greater);
        }
        Ok(Ordering::Equal)
    }
}
