use super::membership;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Reports whether a value is an element of a collection; `in` with the operands swapped. Sets and map keys are searched by hash and fail with TypeError if the value is unhashable; other collections are searched from the front. Strings and maps are not collections here.",
    overloads: &[("m contains(collection: iter, value: any)", contains)],
    examples: &[
        ("[80, 443].contains(443)", "true"),
        ("[a, null].contains($missing)", "true"),
        ("{a => 1}.values().contains(2)", "false"),
        ("'abc'.contains(b)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn contains(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let collection = args.value(0);
    membership::contains(cx, collection, args.peek(1)).map(Value::Bool)
}
