use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns a set of the elements of a collection. Equal values such as 1, 1.0 and true are one element. Fails with TypeError if an element is unhashable.",
    overloads: &[("m toSet(collection: iter)", to_set)],
    examples: &[
        ("[a, b, a].toSet()", "[\"a\", \"b\"]"),
        ("{a => 1, b => 1}.values().toSet()", "[1]"),
        ("{a => 1}.keys().toSet().add(b)", "[\"a\", \"b\"]"),
        ("[{}.delete()].toSet()", "TypeError"),
        ("abc.toSet()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn to_set(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    of(cx, args.value(0))
}

pub(super) fn of(cx: &mut Cx<'_>, collection: Value) -> Result<Value> {
    if let Value::Set(_) = collection {
        return Ok(collection);
    }
    let mut elements = cx.iterate(collection)?;
    let mut items = Vec::with_capacity(elements.size_hint());
    while let Some(item) = elements.next(cx)? {
        // Checked immediately, before a later element can fail.
        item.check_hashable()?;
        cx.charge(24)?;
        items.push(item);
    }
    cx.set(items)
}
