use crate::moment::TimeSpan;
use crate::stdlib::math::cost;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Creates a timespan as the sum of its arguments, which are integers and may be negative. Fails with OverflowError if the result exceeds 999999999 days.",
    overloads: &[(
        "f timespan(days: int = 0, hours: int = 0, minutes: int = 0, seconds: integer = 0, milliseconds: integer = 0, microseconds: integer = 0)",
        timespan,
    )],
    examples: &[
        ("timespan(2, 3)", r#"{"$yaql": "timespan", "us": 183600000000}"#),
        ("timespan(hours => 1, minutes => -1)", r#"{"$yaql": "timespan", "us": 3540000000}"#),
        ("timespan()", r#"{"$yaql": "timespan", "us": 0}"#),
        ("timespan(hours => 0.5)", "NoMatchingFunctionException"),
        ("timespan(-1000000000)", "OverflowError"),
    ],
    purity: Purity::Pure,
};

fn timespan(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    for index in 0..6 {
        cost::linear(cx, args.peek(index))?;
    }
    let part = |index| args.big_int(index);
    TimeSpan::new(part(0), part(1), part(2), part(3), part(4), part(5)).map(Value::TimeSpan)
}
