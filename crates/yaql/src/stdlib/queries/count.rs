use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the number of elements of a collection. Works with every iterable and, unlike `len`, is subject to the iterator limit. Consumes a lazy collection.",
    overloads: &[("m count(collection: iter)", count)],
    examples: &[
        ("[x, y, x].count()", "3"),
        ("range(9).where($ > 5).count()", "3"),
        ("[2, 1].orderBy($).count()", "2"),
        ("sequence().count()", "CollectionTooLargeException"),
        ("abc.count()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn count(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let collection = args.value(0);
    cx.check_sized(&collection)?;
    if let Some(len) = collection.sized_len() {
        return Ok(len.into());
    }
    let mut source = cx.iterate(collection)?;
    let mut count = 0_usize;
    while source.next(cx)?.is_some() {
        count += 1;
    }
    Ok(count.into())
}
