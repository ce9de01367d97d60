use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "system",
    doc: "Evaluates an expression in a context created by `let`, `with`, `unpack` or `def`: `context -> expression`.",
    overloads: &[("f #operator_->(left: context, right: lambda-in-context)", arrow)],
    examples: &[
        ("let(x => 6) -> $x * 7", "42"),
        ("with(2) -> let(y => 3) -> $ + $y", "5"),
        ("5 -> 6", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn arrow(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let right = args.lambda(1);
    match args.value(0) {
        Value::Context(ctx) => right.call_in(cx, &ctx),
        _ => Ok(Value::Null),
    }
}
