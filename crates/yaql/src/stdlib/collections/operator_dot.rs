use crate::eval::operators::{attributes, missing_key};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "`map.key` is the value of that key, or a KeyError when the map lacks it. `collection.key` is `.key` of every element, lazily, so it reaches through nested lists as well.",
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
