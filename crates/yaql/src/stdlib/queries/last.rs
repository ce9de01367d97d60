use super::support::no_element;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "The last element. When there is none, the default if one was given, else a StopIteration error. Lists know their last element; everything else is walked to the end.",
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
    let found = if let Some(seq) = collection.as_seq() {
        cx.check_sized(&collection)?;
        seq.last().cloned()
    } else {
        let mut source = cx.iterate(collection)?;
        let mut found = None;
        while let Some(item) = source.next(cx)? {
            found = Some(item);
        }
        found
    };
    found.or_else(|| args.optional(1)).ok_or_else(|| no_element("last"))
}
