use super::support::fold;
use crate::stdlib::prelude::*;
use crate::syntax::BinaryOp;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "The largest element by the operator `>`; of several equal ones the first. An initial value takes part in the comparison and is the result for an empty collection, which without one is a TypeError. What cannot be compared is a NoMatchingFunctionException.",
    overloads: &[("m max(collection: iter, initial: any = none)", max)],
    examples: &[
        ("[4, 9, 2].max()", "9"),
        ("[b, c, a].max()", r#""c""#),
        ("[1, null].max()", "1"),
        ("[1, 5].max(3)", "5"),
        ("[].max(0)", "0"),
        ("[].max()", "TypeError"),
        ("[1, x].max()", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn max(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let ctx = args.ctx;
    let initial = args.optional(1);
    let redefined = cx.redefined("max", ctx);
    fold(cx, args.value(0), initial, |cx, a, b| {
        if redefined {
            return cx.call_values("max", [a, b], ctx);
        }
        let is_larger = cx.operator(BinaryOp::Gt, b.clone(), a.clone(), ctx)?.is_true();
        Ok(if is_larger { b } else { a })
    })
}
