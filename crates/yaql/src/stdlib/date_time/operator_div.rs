use crate::stdlib::math::cost;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Divides a timespan by a timespan, which yields a float, or by a number, which yields a timespan rounded to microseconds. Fails with ZeroDivisionError if the divisor is zero.",
    overloads: &[
        ("f #operator_/(ts1: timespan, ts2: timespan)", span_by_span),
        ("f #operator_/(ts: timespan, n: number)", span_by_number),
    ],
    examples: &[
        ("timespan(hours => 36) / timespan(1)", "1.5"),
        ("timespan(1) / 3", r#"{"$yaql": "timespan", "us": 28800000000}"#),
        ("timespan(hours => 1) / 0.5", r#"{"$yaql": "timespan", "us": 7200000000}"#),
        ("timespan(1) / timespan()", "ZeroDivisionError"),
        ("2 / timespan(1)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn span_by_span(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    args.span(0).div_span(args.span(1)).map(Value::Float)
}

fn span_by_number(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    cost::linear(cx, args.peek(1))?;
    let quotient = match args.peek(1) {
        Value::Float(divisor) => args.span(0).div_float(*divisor),
        _ => args.span(0).div_int(&args.big_int(1)),
    };
    quotient.map(Value::TimeSpan)
}
