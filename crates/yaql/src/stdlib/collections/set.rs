use super::flattening::flatten_iterators;
use super::to_set;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "As a function, creates a set of the arguments; lazy collections are replaced by their elements. Equal values such as 1, 1.0 and true are one element. As a method of a map, returns a copy with the given keys set: a key and its value, all keys of another map, or `key => value` arguments. Existing keys keep their position. Fails with TypeError if an element or key is unhashable.",
    overloads: &[
        ("f set(args: any...)", set),
        ("m set(dict: map, args: pair...) pairs", set_pairs),
        ("m set(dict: map, key: any, value: any) pairs", set_one),
        ("m set(dict: map, replacements: map) pairs", set_all),
    ],
    examples: &[
        ("set(b, a, b)", "[\"b\", \"a\"]"),
        ("{a => 1, b => 2}.set(a, 5)", "{\"a\": 5, \"b\": 2}"),
        ("{a => 1}.set({b => 2, a => 3})", "{\"a\": 3, \"b\": 2}"),
        ("{a => 1}.set(b => 2, 'c d' => 3)", "{\"a\": 1, \"b\": 2, \"c d\": 3}"),
        ("set({}.keys())", "TypeError"),
        ("{a => 1}.set(b)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn set(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let elements = flatten_iterators(cx, args.rest_values())?;
    to_set::of(cx, elements)
}

fn set_pairs(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut builder = args.map(0).to_builder();
    for (key, value) in args.rest_pairs() {
        builder.insert(key, value)?;
    }
    cx.frozen_dict(builder)
}

fn set_one(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut builder = args.map(0).to_builder();
    builder.insert(args.value(1), args.value(2))?;
    cx.frozen_dict(builder)
}

fn set_all(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut builder = args.map(0).to_builder();
    builder.extend(&args.map(1));
    cx.frozen_dict(builder)
}
