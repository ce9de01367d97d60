use super::edit::{New, inserted};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "The elements of a collection with those of another put in before the one at a position; at the end when the position is beyond it, in front of all when it is negative. Lazy.",
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
    inserted(cx, source, position, New::Many(values), position < 0)
}
