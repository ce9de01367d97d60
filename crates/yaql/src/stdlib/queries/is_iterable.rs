use crate::stdlib::prelude::*;
use crate::value::KindSet;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Reports whether a value is a collection that query functions can iterate over. Strings and maps are not, regardless of the options.",
    overloads: &[("f isIterable(value: any)", is_iterable)],
    examples: &[
        ("isIterable([])", "true"),
        ("isIterable(range(1))", "true"),
        ("isIterable({a => 1})", "false"),
        ("isIterable(abc)", "false"),
    ],
    purity: Purity::Pure,
};

fn is_iterable(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(KindSet::ITER.has(args.peek(0).kind())))
}
