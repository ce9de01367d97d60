use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Reports whether a map has a key. Fails with TypeError if the key is unhashable.",
    overloads: &[("m containsKey(dict: map, key: any)", contains_key)],
    examples: &[
        ("{port => null}.containsKey(port)", "true"),
        ("{1 => x}.containsKey(1.0)", "true"),
        ("{1 => x}.containsKey('1')", "false"),
        ("{}.containsKey({}.keys())", "TypeError"),
    ],
    purity: Purity::Pure,
};

fn contains_key(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let map = args.map(0);
    Ok(Value::Bool(map.get(args.peek(1))?.is_some()))
}
