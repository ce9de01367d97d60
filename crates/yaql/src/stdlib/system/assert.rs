use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "system",
    doc: "Returns the receiver if the condition is true, with `$` bound to the receiver. Fails with AssertionError and the message otherwise. If the receiver is an iterator, the condition does not consume it.",
    overloads: &[("m assert(obj: any, condition: lambda, message: string = 'Assertion failed')", assert)],
    examples: &[
        ("80.assert($ > 0)", "80"),
        ("0.assert($ > 0, 'no such port')", "AssertionError"),
        ("range(4).assert($.len() = 4).sum()", "6"),
    ],
    purity: Purity::Pure,
};

fn assert(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let receiver = args.value(0);
    let receiver = cx.memorize(receiver)?;
    let mut condition = args.lambda(1);
    if condition.test1(cx, receiver.clone())? {
        return Ok(receiver);
    }
    Err(Box::new(Error::new(ErrorClass::Assertion, args.str(2))))
}
