use crate::stdlib::prelude::*;
use crate::value::KindSet;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Reports whether a value is a set. The keys and items of a map are sets, its values are not.",
    overloads: &[("f isSet(arg: any)", is_set)],
    examples: &[
        ("isSet(set(1, 2))", "true"),
        ("isSet({a => 1}.keys())", "true"),
        ("isSet({a => 1}.values())", "false"),
        ("isSet([1, 2])", "false"),
    ],
    purity: Purity::Pure,
};

fn is_set(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(KindSet::SETS.has(args.peek(0).kind())))
}
