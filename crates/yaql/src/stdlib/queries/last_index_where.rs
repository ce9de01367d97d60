use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the position of the last element for which the predicate is true, or -1. Iterates over the whole collection.",
    overloads: &[("m lastIndexWhere(collection: iter, predicate: lambda)", last_index_where)],
    examples: &[
        ("[4, 7, 9, 1].lastIndexWhere($ > 5)", "2"),
        ("[].lastIndexWhere(true)", "-1"),
        ("sequence().lastIndexWhere(true)", "CollectionTooLargeException"),
    ],
    purity: Purity::Pure,
};

fn last_index_where(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut source = cx.iterate(args.value(0))?;
    let mut predicate = args.lambda(1);
    let (mut last_index, mut index) = (-1, 0);
    while let Some(item) = source.next(cx)? {
        if predicate.test1(cx, item)? {
            last_index = index;
        }
        index += 1;
    }
    Ok(Value::Int(last_index))
}
