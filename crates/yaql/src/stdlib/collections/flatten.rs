use super::flattening::Flatten;
use crate::eval::Cursor;
use crate::stdlib::prelude::*;
use crate::value::KindSet;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the elements of a collection with nested collections replaced by their elements, at any depth. Strings and maps are not expanded. The result is lazy.",
    overloads: &[("m flatten(collection: iter)", flatten)],
    examples: &[
        ("[1, [2, [], [[3]]]].flatten()", "[1, 2, 3]"),
        ("[[ab, {k => [1]}]].flatten()", "[\"ab\", {\"k\": [1]}]"),
        ("{a => [1, 2], b => 3}.values().flatten()", "[1, 2, 3]"),
        ("{a => 1}.flatten()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn flatten(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let depth = source.depth();
    cx.lazy(Flatten::new(Cursor::Owned(Box::new(source)), KindSet::ITER), depth)
}
