use super::support::fold;
use crate::stdlib::prelude::*;
use crate::syntax::BinaryOp;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the greatest element, compared with `>`; the first one if several are equal. An initial value takes part in the comparison and is the result for an empty collection. Fails with TypeError if the collection is empty and there is no initial value, and with NoMatchingFunctionException if elements cannot be compared.",
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
