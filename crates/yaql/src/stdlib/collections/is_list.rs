use crate::stdlib::prelude::*;
use crate::value::KindSet;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Whether a value is a list: something with an order, a length and an index. Sets, views of maps, lazy collections and strings are none.",
    overloads: &[("f isList(arg: any)", is_list)],
    examples: &[
        ("isList([])", "true"),
        ("isList([1].where(true))", "false"),
        ("isList(set(1))", "false"),
        ("isList(abc)", "false"),
    ],
    purity: Purity::Pure,
};

fn is_list(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(KindSet::SEQ.has(args.peek(0).kind())))
}
