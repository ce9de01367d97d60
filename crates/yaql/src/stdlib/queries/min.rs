use super::support::fold;
use crate::stdlib::prelude::*;
use crate::syntax::BinaryOp;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the least element, compared with `>`; the last one if several are equal. An initial value takes part in the comparison and is the result for an empty collection. Fails with TypeError if the collection is empty and there is no initial value, and with NoMatchingFunctionException if elements cannot be compared.",
    overloads: &[("m min(collection: iter, initial: any = none)", min)],
    examples: &[
        ("[4, 9, 2].min()", "2"),
        ("[b, c, a].min()", r#""a""#),
        ("[1, null].min()", "null"),
        ("[1, 5].min(3)", "1"),
        ("[].min(0)", "0"),
        ("[].min()", "TypeError"),
        ("[1, x].min()", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn min(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let ctx = args.ctx;
    let initial = args.optional(1);
    let redefined = cx.redefined("min", ctx);
    fold(cx, args.value(0), initial, |cx, a, b| {
        if redefined {
            return cx.call_values("min", [a, b], ctx);
        }
        let is_larger = cx.operator(BinaryOp::Gt, b.clone(), a.clone(), ctx)?.is_true();
        Ok(if is_larger { a } else { b })
    })
}
