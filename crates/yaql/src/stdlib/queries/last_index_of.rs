use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the position of the last element that equals the item, or -1. Iterates over the whole collection.",
    overloads: &[("m lastIndexOf(collection: iter, item: any)", last_index_of)],
    examples: &[
        ("[5, 6, 5].lastIndexOf(5)", "2"),
        ("[5].lastIndexOf(null)", "-1"),
        ("[[1], [1]].lastIndexOf([1])", "1"),
        ("sequence().lastIndexOf(3)", "CollectionTooLargeException"),
    ],
    purity: Purity::Pure,
};

fn last_index_of(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut source = cx.iterate(args.value(0))?;
    let target = args.value(1);
    let (mut last_index, mut index) = (-1, 0);
    while let Some(item) = source.next(cx)? {
        if item.equals(&target) {
            last_index = index;
        }
        index += 1;
    }
    Ok(Value::Int(last_index))
}
