use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "system",
    doc: "Calls a method: `receiver.name(…)`.",
    overloads: &[("f #operator_.(receiver: any, expr: method-lambda)", dot)],
    examples: &[
        ("'ab'.toUpper()", "\"AB\""),
        ("[3, 1].orderBy($).first()", "1"),
        ("5.nothing()", "NoMethodRegisteredException"),
        ("5.'text'", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn dot(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let receiver = args.value(0);
    match args.expression(1) {
        Some((program, node)) => cx.call_on_receiver(&program, node, receiver, args.ctx),
        // Called by name with a value as the right operand: the result is that value.
        None => args.lambda(1).call0(cx),
    }
}
