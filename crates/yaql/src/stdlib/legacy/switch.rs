use super::pairs;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "legacy",
    doc: "Returns the right side of the first `condition => value` argument whose condition is true, or null if none is. Both sides are evaluated with `$` bound to the first argument or the receiver.",
    overloads: &[("fm switch(value: any, conditions: lambda-in-context...) pairs", switch)],
    examples: &[
        ("switch(7, $ > 9 => high, $ > 5 => low)", "\"low\""),
        ("7.switch($ > 9 => high)", "null"),
        ("7.switch(1)", "ValueError"),
    ],
    purity: Purity::Pure,
};

fn switch(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let inner = args.ctx.with_first(args.peek(0).clone())?;
    for condition in args.rest_args() {
        let (condition, result) = pairs::evaluate(cx, args.program, &condition, &inner, "switch")?;
        if condition.is_true() {
            return Ok(result);
        }
    }
    Ok(Value::Null)
}
