use crate::eval::OrderingCell;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Sorts the elements by the key that the selector returns, in descending order. The sort is stable. Keys are compared with `<` and `>`; null sorts last. The collection is sorted when the result is first iterated; `thenBy` adds further keys. Fails with NoMatchingFunctionException if keys cannot be compared.",
    overloads: &[("m orderByDescending(collection: iter, selector: lambda)", order_by_descending)],
    examples: &[
        ("[3, 1, 2].orderByDescending($)", "[3, 2, 1]"),
        ("[15, 21, 31, 45].orderByDescending($ mod 10)", "[15, 45, 21, 31]"),
        ("[2, null].orderByDescending($)", "[2, null]"),
        ("[true, false].orderByDescending($)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn order_by_descending(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let ordering = OrderingCell::new(source, args.lambda(1), false, args.ctx.clone())?;
    Ok(Value::Ordering(ordering))
}
