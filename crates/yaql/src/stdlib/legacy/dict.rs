use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "legacy",
    doc: "Creates a map from pairs, each a tuple of key and value. Accepts every call whose arguments are all tuples, so a list of pairs is interpreted as a single pair.",
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
    // Python YAQL passes all pairs as one collection, so the iterator limit applies to their number.
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

/// Fails like Python YAQL, which forwards a method call to a method that does not exist.
fn dict_method(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let receiver = args.rest_values().into_iter().next().unwrap_or_default();
    Err(cx.unknown_method("dict", &receiver))
}
