use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Converts a value to a string. Strings are unchanged; null, true and false become words. Other values, and the elements of collections, are formatted as Python prints them.",
    overloads: &[("f str(value: any)", str)],
    examples: &[
        ("str(1.0)", r#""1.0""#),
        ("str($none)", r#""null""#),
        ("str(1 = 1)", r#""true""#),
        ("str([1, a, null])", r#""(1, 'a', None)""#),
        ("str({k => [x]})", r#""{'k': ('x',)}""#),
        ("str(10000000000000000.0)", r#""1e+16""#),
    ],
    purity: Purity::Pure,
};

fn str(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    match args.value(0) {
        text @ Value::Str(_) => Ok(text),
        Value::Int(number) => cx.text(itoa::Buffer::new().format(number)),
        other => {
            let text = other.to_text(cx.text_max())?;
            cx.text(text)
        }
    }
}
