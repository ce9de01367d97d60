use crate::pytext;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Returns the number of code points of a string.",
    overloads: &[("fm len(string: string)", len)],
    examples: &[
        ("'héllo'.len()", "5"),
        ("len('a😀')", "2"),
        ("len('')", "0"),
        ("len(5)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn len(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.str(0);
    scan(cx, text.len())?;
    Ok(pytext::len(text).into())
}
