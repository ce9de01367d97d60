use super::support::no_element;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the first element. If the collection is empty, returns the default, or fails with StopIteration if there is none.",
    overloads: &[("m first(collection: iter, default: any = none)", first)],
    examples: &[
        ("[7, 8].first()", "7"),
        ("sequence(3).where($ mod 5 = 0).first()", "5"),
        ("[].first(null)", "null"),
        ("[0].first(5)", "0"),
        ("[].first()", "StopIteration"),
    ],
    purity: Purity::Pure,
};

fn first(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    match cx.iterate(args.value(0))?.next(cx)? {
        Some(item) => Ok(item),
        None => args.optional(1).ok_or_else(|| no_element("first")),
    }
}
