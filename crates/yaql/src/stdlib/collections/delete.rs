use super::delete_all::without;
use super::edit::Span;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "On a collection, returns the elements without `count` elements starting at `position`, or without all elements from there on if `count` is negative. The result is lazy; positions count from 0, and negative positions are not relative to the end. On a map, returns a copy without the given keys; missing keys are ignored.",
    overloads: &[
        ("m delete(collection: iter, position: int, count: int = 1)", delete),
        ("m delete(dict: map, keys: any...)", delete_keys),
    ],
    examples: &[
        ("[a, b, c, d].delete(1)", "[\"a\", \"c\", \"d\"]"),
        ("[a, b, c, d].delete(1, 2)", "[\"a\", \"d\"]"),
        ("[a, b, c, d].delete(position => 2, count => -1)", "[\"a\", \"b\"]"),
        ("{a => 1, b => 2, c => 3}.delete(b, z)", "{\"a\": 1, \"c\": 3}"),
        ("[a].delete()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn delete(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let depth = source.depth();
    cx.lazy(Delete { source, span: Span::of(args, 1, 2), index: 0 }, depth)
}

fn delete_keys(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let map = args.map(0);
    let mut keys = args.rest_values().into_iter();
    without(cx, &map, |_| Ok(keys.next()))
}

struct Delete {
    source: LimitedCursor,
    span: Span,
    index: i64,
}

impl Lazy for Delete {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        while let Some(item) = self.source.next(cx)? {
            let deleted = self.span.has(self.index);
            self.index += 1;
            if !deleted {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }
}
