use crate::eval::OrderingCell;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Sorts the elements by the key that the selector returns. The sort is stable. Keys are compared with `<` and `>`; null sorts first. The collection is sorted when the result is first iterated; `thenBy` adds further keys. Fails with NoMatchingFunctionException if keys cannot be compared.",
    overloads: &[("m orderBy(collection: iter, selector: lambda)", order_by)],
    examples: &[
        ("[3, 1, 2].orderBy($)", "[1, 2, 3]"),
        ("[{n => b, i => 1}, {n => a, i => 2}].orderBy($.n).select($.i)", "[2, 1]"),
        ("[b, null, A].orderBy($)", r#"[null, "A", "b"]"#),
        ("[5].orderBy($.no.such)", "[5]"),
        ("[1, x].orderBy($)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn order_by(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let ordering = OrderingCell::new(source, args.lambda(1), true, args.ctx.clone())?;
    Ok(Value::Ordering(ordering))
}
