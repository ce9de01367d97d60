use crate::stdlib::prelude::*;
use crate::value::KindSet;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Reports whether a value is a list, that is, an ordered collection with a length and an index. Sets, map views, lazy collections and strings are not lists.",
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
