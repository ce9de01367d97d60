use super::edit::{New, Span, replace_span};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the elements of a collection with `count` elements starting at `position`, or all elements from there on if `count` is negative, replaced by the elements of another collection. Positions count from 0, and negative positions are not relative to the end. If no element is replaced, nothing is inserted. The result is lazy.",
    overloads: &[(
        "m replaceMany(collection: iter, position: int, values: iter, count: int = 1)",
        replace_many,
    )],
    examples: &[
        ("[a, b, c].replaceMany(1, [x, y])", "[\"a\", \"x\", \"y\", \"c\"]"),
        ("[a, b, c, d].replaceMany(1, [], 2)", "[\"a\", \"d\"]"),
        ("[a, b, c].replaceMany(count => -1, position => 0, values => [x])", "[\"x\"]"),
        ("[a].replaceMany(-1, [x])", "[\"a\"]"),
    ],
    purity: Purity::Pure,
};

fn replace_many(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let values = cx.iterate(args.value(2))?;
    replace_span(cx, source, Span::of(args, 1, 3), New::Many(values))
}
