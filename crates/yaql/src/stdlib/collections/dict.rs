use crate::stdlib::prelude::*;
use crate::value::size::dict_size;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Creates a map from `key => value` arguments or from a collection of pairs. A pair is any iterable with at least two elements, for example a list or a two-character string. If a key occurs repeatedly, the last value wins. Fails with StopIteration if a pair has fewer than two elements, and with TypeError if an element is not iterable or a key is unhashable.",
    overloads: &[("f dict(args: pair...) pairs", from_pairs), ("f dict(items: iter) pairs", from_items)],
    examples: &[
        ("dict(name => web, 'tcp port' => 80)", "{\"name\": \"web\", \"tcp port\": 80}"),
        ("dict([[a, 1], [b, 2], [a, 3]])", "{\"a\": 3, \"b\": 2}"),
        ("dict({a => 1}.items())", "{\"a\": 1}"),
        ("dict()", "{}"),
        ("dict([[a]])", "StopIteration"),
        ("dict([1])", "TypeError"),
    ],
    purity: Purity::Pure,
};

pub(super) fn from_pairs(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let pairs = args.rest_pairs();
    let mut builder = MapBuilder::with_capacity(pairs.len());
    for (key, value) in pairs {
        builder.insert(key, value)?;
    }
    cx.frozen_dict(builder)
}

fn from_items(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut items = cx.iterate(args.value(0))?;
    let mut builder = MapBuilder::with_capacity(items.size_hint());
    while let Some(item) = items.next(cx)? {
        let (key, value) = pair(cx, item)?;
        builder.insert(key, value)?;
        cx.charge(64)?;
        cx.check_bytes(dict_size(builder.len()))?;
    }
    cx.frozen_dict(builder)
}

/// Returns the first two elements of an iterable value.
fn pair(cx: &mut Cx<'_>, item: Value) -> Result<(Value, Value)> {
    if let Some([key, value, ..]) = item.as_seq().map(|seq| &seq[..]) {
        return Ok((key.clone(), value.clone()));
    }
    let mut parts = cx.cursor(item)?;
    if let (Some(key), Some(value)) = (parts.next(cx)?, parts.next(cx)?) {
        return Ok((key, value));
    }
    let too_short = Error::new(ErrorClass::StopIteration, "");
    Err(Box::new(too_short.help("every element must be a pair of a key and a value")))
}
