use super::edit::{New, insert_at};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the elements of a collection with those of another one inserted before the element at a position. Inserts at the end if the position is beyond it, and at the front if the position is negative. The result is lazy.",
    overloads: &[("m insertMany(collection: iter, position: int, values: iter)", insert_many)],
    examples: &[
        ("[a, b].insertMany(1, [x, y])", "[\"a\", \"x\", \"y\", \"b\"]"),
        ("[a, b].insertMany(-5, [x, y])", "[\"x\", \"y\", \"a\", \"b\"]"),
        ("[a, b].insertMany(5, {k => x}.values())", "[\"a\", \"b\", \"x\"]"),
        ("[a, b].insertMany(1, x)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn insert_many(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let values = cx.iterate(args.value(2))?;
    let position = args.int(1);
    insert_at(cx, source, position, New::Many(values), position < 0)
}
