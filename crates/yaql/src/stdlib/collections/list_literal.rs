use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "The literal `[…]`: creates a list of the given values.",
    overloads: &[("f #list(args: any...)", list)],
    examples: &[
        ("[]", "[]"),
        ("[1, two, [3.5, null], {a => true}]", "[1, \"two\", [3.5, null], {\"a\": true}]"),
        ("[1, 1 / 0]", "ZeroDivisionError"),
        ("[a => 1]", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn list(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let items = args.rest_values();
    cx.tuple(items)
}
