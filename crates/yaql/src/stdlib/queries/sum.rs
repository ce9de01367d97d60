use super::support::fold;
use crate::stdlib::prelude::*;
use crate::syntax::BinaryOp;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Adds the elements with the operator `+`, which concatenates strings and lists. An initial value is added first and is the result for an empty collection. Fails with TypeError if the collection is empty and there is no initial value.",
    overloads: &[("m sum(collection: iter, initial: any = none)", sum)],
    examples: &[
        ("[1, 2, 3.5].sum()", "6.5"),
        ("[a, b].sum('>')", r#"">ab""#),
        ("[].sum(0)", "0"),
        ("[x].sum()", r#""x""#),
        ("[].sum()", "TypeError"),
        ("[1, x].sum()", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn sum(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let ctx = args.ctx;
    let initial = args.optional(1);
    fold(cx, args.value(0), initial, |cx, total, item| cx.operator(BinaryOp::Add, total, item, ctx))
}
