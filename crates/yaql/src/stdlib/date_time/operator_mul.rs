use crate::moment::TimeSpan;
use crate::stdlib::math::cost;
use crate::stdlib::prelude::*;
use crate::value::number;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Multiplies a timespan by a number, in either order. The result is rounded to microseconds, half to even.",
    overloads: &[
        ("f #operator_*(ts: timespan, n: number)", span_times_number),
        ("f #operator_*(n: number, ts: timespan)", number_times_span),
    ],
    examples: &[
        ("timespan(hours => 2) * 12 = timespan(1)", "true"),
        ("0.25 * timespan(hours => 2)", r#"{"$yaql": "timespan", "us": 1800000000}"#),
        ("timespan(microseconds => 5) * 0.5", r#"{"$yaql": "timespan", "us": 2}"#),
        ("timespan(1) * timespan(1)", "NoMatchingFunctionException"),
        ("timespan(1) * 1000000000", "OverflowError"),
    ],
    purity: Purity::Pure,
};

fn span_times_number(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    product(cx, args.span(0), args.peek(1))
}

fn number_times_span(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    product(cx, args.span(1), args.peek(0))
}

fn product(cx: &mut Cx<'_>, span: TimeSpan, factor: &Value) -> Result<Value> {
    cost::linear(cx, factor)?;
    let product = match factor {
        Value::Float(factor) => span.mul_float(*factor),
        _ => span.mul_int(&number::to_big(factor)),
    };
    product.map(Value::TimeSpan)
}
