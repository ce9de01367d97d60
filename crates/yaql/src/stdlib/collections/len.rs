use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the number of elements of a list or set, or the number of keys of a map.",
    overloads: &[("fm len(dict: map)", len), ("fm len(sequence: seq)", len), ("fm len(set: set)", len)],
    examples: &[
        ("[7, 8, 9].len()", "3"),
        ("len({a => 1, b => 2})", "2"),
        ("set(1, 1.0, true).len()", "1"),
        ("{a => 1}.keys().len()", "1"),
        ("len(5)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn len(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(args.peek(0).sized_len().unwrap_or(0).into())
}
