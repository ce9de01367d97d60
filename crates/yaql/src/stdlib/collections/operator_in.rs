use super::membership;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Whether the left value is an element of the collection on the right. Sets and keys look the value up, so one that cannot be hashed is a TypeError there; everything else is searched from the front, a lazy collection only up to the hit. A map is no collection: use its keys.",
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
