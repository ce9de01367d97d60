use super::edit::{New, Span, replaced};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "The elements of a collection with those of another in place of `count` of them from `position` on, or of all from there on when `count` is negative. Positions count from 0 and only from the front; where nothing is replaced nothing is put in. Lazy.",
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
    replaced(cx, source, Span::of(args, 1, 3), New::Many(values))
}
