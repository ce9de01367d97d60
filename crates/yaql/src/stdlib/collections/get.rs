use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the value of a key in a map, or the default if the map does not have the key. Returns null, not the default, if the value of the key is null. Fails with TypeError if the key is unhashable.",
    overloads: &[("m get(dict: map, key: any, default: any = null)", get)],
    examples: &[
        ("{port => 80}.get(port)", "80"),
        ("{port => 80}.get(host)", "null"),
        ("{port => 80}.get(host, localhost)", "\"localhost\""),
        ("{port => null}.get(port, 80)", "null"),
        ("{1 => x}.get(true)", "\"x\""),
        ("[1].get(0)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn get(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let map = args.map(0);
    let value = map.get(args.peek(1))?.cloned();
    Ok(value.unwrap_or_else(|| args.value(2)))
}
