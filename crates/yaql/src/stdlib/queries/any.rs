use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Reports whether the predicate is true for at least one element or, without a predicate, whether the collection has an element. Stops at the first match, so it can be used with infinite iterators.",
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
        let matched = match &mut predicate {
            Some(predicate) => predicate.test1(cx, item)?,
            None => true,
        };
        if matched {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}
