use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "legacy",
    doc: "Creates a tuple of the arguments.",
    overloads: &[("f tuple(args: any...)", tuple)],
    examples: &[
        ("tuple(5, six)", r#"{"$yaql": "tuple", "items": [5, "six"]}"#),
        ("tuple()", r#"{"$yaql": "tuple", "items": []}"#),
    ],
    purity: Purity::Pure,
};

fn tuple(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    cx.tuple(args.rest_values())
}
