use crate::stdlib::prelude::*;
use crate::syntax::VarName;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "legacy",
    doc: "Returns the value of a key of a map, or null if the map does not have the key. On a context created by `as`, a method call is applied to the receiver of `as`, in that context.",
    overloads: &[
        ("f #operator_.(dict: map, key: keyword)", key),
        ("f #operator_.(receiver: context, expr: method-lambda)", in_context),
    ],
    examples: &[("{p => 1}.q", "null"), ("{p => 1}.p", "1"), ("[1].as($ => all).where($ in $all)", "[1]")],
    purity: Purity::Pure,
};

fn key(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let map = args.map(0);
    Ok(map.get_str(args.str(1)).cloned().unwrap_or_default())
}

fn in_context(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Value::Context(ctx) = args.value(0) else { return Ok(Value::Null) };
    let receiver = ctx.get(&VarName::new("0")).clone();
    match args.expression(1) {
        Some((program, node)) => cx.call_on_receiver(&program, node, receiver, &ctx),
        None => args.lambda(1).call_in(cx, &ctx),
    }
}
