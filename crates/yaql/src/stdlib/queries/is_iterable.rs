use crate::stdlib::prelude::*;
use crate::value::KindSet;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Whether the value is a collection that queries can walk. Strings and maps are none, whatever the options say.",
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
