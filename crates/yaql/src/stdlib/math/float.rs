use crate::pytext::parse_float;
use crate::stdlib::prelude::*;
use crate::value::number;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Converts a number, a boolean, text or null to a float. Null is 0.0. Text may have an exponent, surrounding whitespace and underscores between digits, or be `inf`, `infinity` or `nan`. Fails with ValueError for other text, with OverflowError if an integer is out of range, and with TypeError for other values.",
    overloads: &[("f float(value: any)", float)],
    examples: &[
        ("float('2.5e-1')", "0.25"),
        ("float(7)", "7.0"),
        ("float(null)", "0.0"),
        ("float(' Infinity ')", r#"{"$yaql": "float", "value": "inf"}"#),
        ("float('1,5')", "ValueError"),
        ("float({})", "TypeError"),
    ],
    purity: Purity::Pure,
};

fn float(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let float = match args.peek(0) {
        Value::Null => 0.0,
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        number @ (Value::Int(_) | Value::BigInt(_) | Value::Float(_)) => number::to_float(number)?,
        Value::Str(text) => parse_float(text)?,
        other => {
            let message =
                format!("float() argument must be a string or a real number, not '{}'", other.type_name());
            return Err(Box::new(Error::kind(message)));
        }
    };
    Ok(Value::Float(float))
}
