use crate::pytext::{ParsedInt, float_to_int, parse_int};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Converts a number, a boolean, text or null to an integer. Floats are truncated; null is 0. Text may have surrounding whitespace, a sign, decimal digits of any script and single underscores between digits. Fails with ValueError for other text, and with TypeError for other values.",
    overloads: &[("f int(value: any)", int)],
    examples: &[
        ("int(' -1_024 ')", "-1024"),
        ("int(-2.9)", "-2"),
        ("int(null)", "0"),
        ("int(true)", "1"),
        ("int('2.0')", "ValueError"),
        ("int([2])", "TypeError"),
    ],
    purity: Purity::Pure,
};

fn int(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    match args.value(0) {
        Value::Null => Ok(Value::Int(0)),
        Value::Bool(flag) => Ok(Value::Int(i64::from(flag))),
        number @ (Value::Int(_) | Value::BigInt(_)) => Ok(number),
        Value::Float(number) => float_to_int(number).map(Value::int),
        Value::Str(text) => parse_int(&text).map(|number| match number {
            ParsedInt::Small(number) => Value::Int(number),
            ParsedInt::Big(number) => Value::int(number),
        }),
        other => {
            let name = other.type_name();
            let message = "int() argument must be a string, a bytes-like object or a real number, not";
            Err(Box::new(Error::kind(format!("{message} '{name}'"))))
        }
    }
}
