use super::membership;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Reports whether a value is an element of a collection. Sets and map keys are searched by hash and fail with TypeError if the value is unhashable; other collections are searched from the front, lazy ones only up to the first match. A map is not a collection; use its keys.",
    overloads: &[("f #operator_in(value: any, collection: iter)", contains)],
    examples: &[
        ("443 in [80, 443]", "true"),
        ("db in set(web, mon)", "false"),
        ("a in {a => 1}.keys()", "true"),
        ("[a, 1] in {a => 1}.items()", "true"),
        ("7 in {a => 1}.items()", "TypeError"),
        ("a in {a => 1}", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn contains(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let collection = args.value(1);
    membership::contains(cx, collection, args.peek(0)).map(Value::Bool)
}
