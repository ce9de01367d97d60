//! Lazy copies of a collection with elements inserted or replaced.

use num_traits::{Signed, ToPrimitive};

use crate::stdlib::prelude::*;

/// A range of positions with an optional end.
pub(super) struct Span {
    first: i64,
    end: Option<i64>,
}

impl Span {
    /// Creates a span from the arguments with these indexes. A negative count means no end.
    pub(super) fn of(args: &Args<'_>, position: usize, count: usize) -> Self {
        let count = args.big_int(count);
        let end = args.big_int(position) + &count;
        // Saturation is safe: no collection is that long.
        let end = end.to_i64().unwrap_or(if end.is_negative() { i64::MIN } else { i64::MAX });
        Self { first: args.int(position), end: (!count.is_negative()).then_some(end) }
    }

    pub(super) fn has(&self, index: i64) -> bool {
        index >= self.first && self.end.is_none_or(|end| index < end)
    }
}

/// The new elements.
pub(super) enum New {
    One(Option<Value>),
    Many(LimitedCursor),
}

impl New {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        match self {
            Self::One(value) => Ok(value.take()),
            Self::Many(values) => values.next(cx),
        }
    }

    fn depth(&self) -> u16 {
        match self {
            Self::One(value) => value.as_ref().map_or(0, Value::depth),
            Self::Many(values) => values.depth(),
        }
    }
}

/// Returns the collection with a span of elements replaced by new ones.
pub(super) fn replace_span(cx: &mut Cx<'_>, source: LimitedCursor, span: Span, new: New) -> Result<Value> {
    let depth = source.depth().max(new.depth());
    cx.lazy(Replaced { source, span, new, index: 0, stage: Stage::Before }, depth)
}

/// Returns the collection with new elements inserted before a position, or at the end.
pub(super) fn insert_at(
    cx: &mut Cx<'_>,
    source: LimitedCursor,
    position: i64,
    new: New,
    in_front: bool,
) -> Result<Value> {
    let depth = source.depth().max(new.depth());
    let stage = if in_front { Stage::New } else { Stage::Before };
    cx.lazy(Inserted { source, position, new, index: 0, stage, next_item: None }, depth)
}

enum Stage {
    /// The new elements have not been reached.
    Before,
    /// The new elements are being returned.
    New,
    After,
}

struct Replaced {
    source: LimitedCursor,
    span: Span,
    new: New,
    index: i64,
    stage: Stage,
}

impl Lazy for Replaced {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        loop {
            if let Stage::New = self.stage {
                if let Some(value) = self.new.next(cx)? {
                    return Ok(Some(value));
                }
                self.stage = Stage::After;
            }
            let Some(item) = self.source.next(cx)? else { return Ok(None) };
            let is_replaced = self.span.has(self.index);
            self.index += 1;
            match self.stage {
                _ if !is_replaced => return Ok(Some(item)),
                Stage::Before => self.stage = Stage::New,
                Stage::New | Stage::After => {}
            }
        }
    }
}

struct Inserted {
    source: LimitedCursor,
    position: i64,
    new: New,
    index: i64,
    stage: Stage,
    /// The element before which the new ones are inserted.
    next_item: Option<Value>,
}

impl Lazy for Inserted {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        loop {
            match self.stage {
                Stage::Before => {
                    let item = self.source.next(cx)?;
                    let here = if item.is_some() {
                        self.index == self.position
                    } else {
                        self.index <= self.position
                    };
                    self.index += 1;
                    if !here {
                        return Ok(item);
                    }
                    self.next_item = item;
                    self.stage = Stage::New;
                }
                Stage::New => match self.new.next(cx)? {
                    None => self.stage = Stage::After,
                    new => return Ok(new),
                },
                Stage::After => {
                    return match self.next_item.take() {
                        None => self.source.next(cx),
                        next_item => Ok(next_item),
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::evaluate;

    #[test]
    fn positions_out_of_range() {
        for (expression, result) in [
            ("[1, 2, 3].delete(100000000000000000000000)", "[1, 2, 3]"),
            ("[1, 2, 3].delete(-100000000000000000000000, 100000000000000000000002)", "[3]"),
            ("[1, 2, 3].delete(-2, 3)", "[2, 3]"),
            ("[1, 2, 3].delete(1, 100000000000000000000000)", "[1]"),
            ("[1, 2].delete(true, 0)", "[1, 2]"),
            ("[1, 2].insertMany(100000000000000000000000, [3])", "[1, 2, 3]"),
            ("[1, 2].insertMany(-100000000000000000000000, [3])", "[3, 1, 2]"),
            ("[].insertMany(-1, [3])", "[3]"),
            ("[].insertMany(0, [3])", "[3]"),
            ("[1].where(true).insert(100000000000000000000000, 3)", "[1, 3]"),
            ("[].where(true).insert(-1, 3)", "[]"),
            ("[1].insert(100000000000000000000000, 3)", "OverflowError"),
            ("[1, 2].insert(-9, 3)", "[3, 1, 2]"),
            ("[1, 2].replace(-1, 3, 2)", "[3, 2]"),
            ("[].replace(0, 3)", "[]"),
            ("[1, 2].replaceMany(0, [], -1)", "[]"),
        ] {
            assert_eq!(evaluate(expression), result, "{expression}");
        }
    }
}
