use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "legacy",
    doc: "A map of pairs, each a tuple of key and value. It takes every call whose arguments are all tuples, so a \
          list of pairs is taken for one pair.",
    overloads: &[
        ("f dict(tuples: tuple...) pairs", dict),
        ("m dict(tuples: tuple...) pairs", dict_method),
        ("f #map(tuples: tuple...) pairs", dict),
    ],
    examples: &[
        ("dict(a => 1, b => 2)", r#"{"a": 1, "b": 2}"#),
        ("{a => 1}", r#"{"a": 1}"#),
        ("dict([[a, 1]])", "StopIteration"),
        ("[a, 1].dict()", "NoMethodRegisteredException"),
    ],
    purity: Purity::Pure,
};

fn dict(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    // All pairs together are one collection to the function that makes the map.
    let pairs = Value::tuple(args.rest_values());
    cx.check_sized(&pairs)?;
    let mut builder = MapBuilder::default();
    for pair in pairs.as_seq().iter().flat_map(|pairs| pairs.iter()) {
        let Some([key, value, ..]) = pair.as_seq().map(|seq| &seq[..]) else {
            return Err(Box::new(Error::new(ErrorClass::StopIteration, "")));
        };
        builder.insert(key.clone(), value.clone())?;
    }
    cx.frozen_dict(builder)
}

/// The reference passes a method call on as a method call, and there is no such method to pass it to.
fn dict_method(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let receiver = args.rest_values().into_iter().next().unwrap_or_default();
    Err(cx.unknown_method("dict", &receiver))
}
