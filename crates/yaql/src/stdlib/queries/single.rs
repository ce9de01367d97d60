use super::support::stop_iteration;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the only element of a collection. Fails with StopIteration if the collection has no element or more than one.",
    overloads: &[("m single(collection: iter)", single)],
    examples: &[
        ("[7].single()", "7"),
        ("range(9).where($ * 3 = 12).single()", "4"),
        ("[7, 8].single()", "StopIteration"),
        ("[].single()", "StopIteration"),
    ],
    purity: Purity::Pure,
};

fn single(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut source = cx.iterate(args.value(0))?;
    let Some(item) = source.next(cx)? else { return Err(stop_iteration("")) };
    match source.next(cx)? {
        Some(_) => Err(stop_iteration("Collection contains more than one item")),
        None => Ok(item),
    }
}
