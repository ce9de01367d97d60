use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Reports whether the predicate is true for every element or, without a predicate, whether every element is true. True for an empty collection. Stops at the first element that fails.",
    overloads: &[("fm all(collection: iter, predicate: lambda = null)", all)],
    examples: &[
        ("[4, 6].all($ mod 2 = 0)", "true"),
        ("all([1, ''])", "false"),
        ("[].all(false)", "true"),
        ("[0, 5].all(1 / $ > 0)", "ZeroDivisionError"),
        ("5.all($)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn all(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut source = cx.iterate(args.value(0))?;
    let mut predicate = args.optional_lambda(1);
    while let Some(item) = source.next(cx)? {
        let holds = match &mut predicate {
            Some(predicate) => predicate.test1(cx, item)?,
            None => item.is_true(),
        };
        if !holds {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}
