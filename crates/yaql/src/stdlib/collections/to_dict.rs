use crate::stdlib::prelude::*;
use crate::value::size::dict_size;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Creates a map with one entry per element of a collection. `keySelector` computes the key and `valueSelector` the value, which defaults to the element. If a key occurs repeatedly, the last value wins. Fails with TypeError if a key is unhashable.",
    overloads: &[("m toDict(collection: iter, keySelector: lambda, valueSelector: lambda = null)", to_dict)],
    examples: &[
        ("[a, bc].toDict($, [$])", "{\"a\": [\"a\"], \"bc\": [\"bc\"]}"),
        ("[{id => x}, {id => y}].toDict($.id)", "{\"x\": {\"id\": \"x\"}, \"y\": {\"id\": \"y\"}}"),
        ("[[a, 1], [b, 2], [a, 3]].toDict($[0], valueSelector => $[1])", "{\"a\": 3, \"b\": 2}"),
        ("[{a => 1}].toDict($.keys())", "TypeError"),
        ("[1].toDict()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn to_dict(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut items = cx.iterate(args.value(0))?;
    let mut key_selector = args.lambda(1);
    let mut value_selector = args.optional_lambda(2);
    let mut builder = MapBuilder::with_capacity(items.size_hint());
    while let Some(item) = items.next(cx)? {
        let key = key_selector.call1(cx, item.clone())?;
        let value = match &mut value_selector {
            Some(selector) => selector.call1(cx, item)?,
            None => item,
        };
        builder.insert(key, value)?;
        cx.charge(64)?;
        cx.check_bytes(dict_size(builder.len()))?;
    }
    cx.dict(builder)
}
