use crate::stdlib::prelude::*;
use crate::value::KindSet;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Reports whether a value is a map.",
    overloads: &[("f isDict(arg: any)", is_dict)],
    examples: &[
        ("isDict({})", "true"),
        ("isDict([[a, 1]])", "false"),
        ("isDict({a => 1}.delete(a))", "true"),
    ],
    purity: Purity::Pure,
};

fn is_dict(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(KindSet::MAP.has(args.peek(0).kind())))
}
