use crate::eval::operators::{attributes, missing_key};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the value of a key: `map.key`. Fails with KeyError if the map does not have the key. On a collection, `collection.key` is a lazy collection of `.key` of every element, including through nested lists.",
    overloads: &[
        ("f #operator_.(dict: map, key: keyword)", of_map),
        ("f #operator_.(collection: iter, attribute: keyword)", of_elements),
    ],
    examples: &[
        ("{net => {port => 80}}.net.port", "80"),
        ("[{ip => x}, {ip => y}].ip", "[\"x\", \"y\"]"),
        ("[[{ip => x}], []].ip", "[[\"x\"], []]"),
        ("{a => 1}.b", "KeyError"),
        ("[{a => 1}, {b => 2}].a", "KeyError"),
    ],
    purity: Purity::Pure,
};

fn of_map(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (map, key) = (args.peek(0), args.peek(1));
    match map.as_map().map(|map| map.get(key)).transpose()?.flatten() {
        Some(value) => Ok(value.clone()),
        None => Err(missing_key(map, key)),
    }
}

fn of_elements(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let collection = args.value(0);
    attributes(cx, collection, args.str(1), args.ctx)
}
