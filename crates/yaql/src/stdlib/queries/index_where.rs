use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the position of the first element for which the predicate is true, or -1.",
    overloads: &[("m indexWhere(collection: iter, predicate: lambda)", index_where)],
    examples: &[
        ("[4, 7, 9].indexWhere($ > 5)", "1"),
        ("[4].indexWhere($ > 5)", "-1"),
        ("sequence().indexWhere($ * $ > 90)", "10"),
        ("[1, a].indexWhere($ > 5)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn index_where(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut source = cx.iterate(args.value(0))?;
    let mut predicate = args.lambda(1);
    let mut index = 0;
    while let Some(item) = source.next(cx)? {
        if predicate.test1(cx, item)? {
            return Ok(Value::Int(index));
        }
        index += 1;
    }
    Ok(Value::Int(-1))
}
