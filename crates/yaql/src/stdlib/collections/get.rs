use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "The value of a key in a map, or the default when the map lacks the key. A key that is there with the value null gives null. A key that cannot be hashed is a TypeError.",
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
    let found = map.get(args.peek(1))?.cloned();
    Ok(found.unwrap_or_else(|| args.value(2)))
}
