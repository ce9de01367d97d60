use super::edit::{New, Span, replaced};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "The elements of a collection with one value in place of `count` of them from `position` on, or of all from there on when `count` is negative. Positions count from 0 and only from the front; where nothing is replaced the value does not appear. Lazy.",
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
    replaced(cx, source, Span::of(args, 1, 3), New::One(Some(value)))
}
