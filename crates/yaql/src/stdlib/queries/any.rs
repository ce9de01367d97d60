use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Whether the predicate is true for at least one element; without a predicate, whether there is any element at all. Stops at the first hit, so it works on endless iterators too.",
    overloads: &[("fm any(collection: iter, predicate: lambda = null)", any)],
    examples: &[
        ("[3, 8].any($ > 5)", "true"),
        ("any([])", "false"),
        ("[null].any()", "true"),
        ("[null].any($)", "false"),
        ("sequence().any($ = 40)", "true"),
        ("{a => 1}.any()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn any(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut source = cx.iterate(args.value(0))?;
    let mut predicate = args.optional_lambda(1);
    while let Some(item) = source.next(cx)? {
        let found = match &mut predicate {
            Some(predicate) => predicate.test1(cx, item)?,
            None => true,
        };
        if found {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}
