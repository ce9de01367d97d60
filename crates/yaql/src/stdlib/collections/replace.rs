use super::edit::{New, Span, replace_span};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the elements of a collection with `count` elements starting at `position`, or all elements from there on if `count` is negative, replaced by one value. Positions count from 0, and negative positions are not relative to the end. If no element is replaced, the value is not inserted. The result is lazy.",
    overloads: &[("m replace(collection: iter, position: int, value: any, count: int = 1)", replace)],
    examples: &[
        ("[a, b, c].replace(1, x)", "[\"a\", \"x\", \"c\"]"),
        ("[a, b, c, d].replace(1, x, 2)", "[\"a\", \"x\", \"d\"]"),
        ("[a, b, c, d].replace(1, x, -1)", "[\"a\", \"x\"]"),
        ("[a, b].replace(5, x)", "[\"a\", \"b\"]"),
    ],
    purity: Purity::Pure,
};

fn replace(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let value = args.value(2);
    replace_span(cx, source, Span::of(args, 1, 3), New::One(Some(value)))
}
