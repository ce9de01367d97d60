use crate::pytext::hex_int;

use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Formats an integer in lower-case hexadecimal with the prefix `0x`, after the sign. Fails with TypeError for a float or null.",
    overloads: &[("f hex(num: number?)", hex)],
    examples: &[
        ("hex(4095)", r#""0xfff""#),
        ("hex(-10)", r#""-0xa""#),
        ("hex(18446744073709551616)", r#""0x10000000000000000""#),
        ("hex(1.5)", "TypeError"),
        ("hex(null)", "TypeError"),
        ("hex(true)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn hex(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    match args.peek(0) {
        Value::Int(number) => {
            let sign = if *number < 0 { "-" } else { "" };
            cx.text(format!("{sign}{:#x}", number.unsigned_abs()))
        }
        Value::BigInt(number) => {
            cx.steps(number.bits() / 64)?;
            cx.text(hex_int(number))
        }
        other => {
            let message = format!("'{}' object cannot be interpreted as an integer", other.type_name());
            Err(Box::new(Error::kind(message)))
        }
    }
}
