use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "system",
    doc: "Like `.`, but returns null without evaluating the right operand if the left operand is null. Applies to one access only, and does not prevent an error for a missing key.",
    overloads: &[("f #operator_?.(receiver: any, expr: expr)", safe_dot)],
    examples: &[
        ("null?.name", "null"),
        ("null?.nothing(1)", "null"),
        ("{name => n1}?.name", "\"n1\""),
        ("{name => n1}?.port", "KeyError"),
    ],
    purity: Purity::Pure,
};

fn safe_dot(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let receiver = args.value(0);
    match args.expression(1) {
        Some((program, node)) if !receiver.is_null() => cx.dot(&program, node, receiver, args.ctx),
        _ => Ok(Value::Null),
    }
}
