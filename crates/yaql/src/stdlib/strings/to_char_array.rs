use crate::pytext;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::scan;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Returns the code points of a string as a tuple of one-character strings.",
    overloads: &[("m toCharArray(string: string)", to_char_array)],
    examples: &[
        ("'a😀'.toCharArray()", r#"["a", "😀"]"#),
        ("''.toCharArray()", "[]"),
        ("'abc'.toCharArray() = [a, b, c]", "true"),
    ],
    purity: Purity::Pure,
};

fn to_char_array(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let text = args.str(0);
    scan(cx, text.len())?;
    let count = pytext::len(text);
    cx.check_bytes(40 + 8 * count as u64)?;
    cx.charge(28 * count as u64)?;
    let mut items = Vec::with_capacity(count);
    items.extend(text.chars().map(|letter| Value::str(letter.encode_utf8(&mut [0; 4]) as &str)));
    cx.tuple(items)
}
