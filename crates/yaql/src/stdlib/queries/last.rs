use super::support::no_element;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the last element. If the collection is empty, returns the default, or fails with StopIteration if there is none. Takes constant time for lists; other collections are iterated to the end.",
    overloads: &[("m last(collection: iter, default: any = none)", last)],
    examples: &[
        ("[7, 8].last()", "8"),
        ("range(5).where($ mod 2 = 1).last()", "3"),
        ("range(0).last(null)", "null"),
        ("[].last()", "StopIteration"),
        ("sequence().last()", "CollectionTooLargeException"),
    ],
    purity: Purity::Pure,
};

fn last(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let collection = args.value(0);
    let last_item = if let Some(seq) = collection.as_seq() {
        cx.check_sized(&collection)?;
        seq.last().cloned()
    } else {
        let mut source = cx.iterate(collection)?;
        let mut last_item = None;
        while let Some(item) = source.next(cx)? {
            last_item = Some(item);
        }
        last_item
    };
    last_item.or_else(|| args.optional(1)).ok_or_else(|| no_element("last"))
}
