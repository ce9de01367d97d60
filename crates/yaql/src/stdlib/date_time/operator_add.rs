use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Adds a timespan to a datetime, in either order, or adds two timespans. Fails with OverflowError if the result is outside the years 1 to 9999.",
    overloads: &[
        ("f #operator_+(dt: datetime, ts: timespan)", datetime_and_span),
        ("f #operator_+(ts: timespan, dt: datetime)", span_and_datetime),
        ("f #operator_+(ts1: timespan, ts2: timespan)", spans),
    ],
    examples: &[
        (
            "datetime(2021, 6, 30) + timespan(hours => 36)",
            r#"{"$yaql": "datetime", "value": "2021-07-01T12:00:00+00:00"}"#,
        ),
        (
            "timespan(-1) + datetime(2021, 7, 1)",
            r#"{"$yaql": "datetime", "value": "2021-06-30T00:00:00+00:00"}"#,
        ),
        ("timespan(hours => 1) + timespan(minutes => 15)", r#"{"$yaql": "timespan", "us": 4500000000}"#),
        ("datetime(9999, 12, 31) + timespan(1)", "OverflowError"),
        ("datetime(0) + 60", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn datetime_and_span(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let moment = common::datetime_arg(args, 0)?.add_span(args.span(1))?;
    common::datetime_value(cx, moment)
}

fn span_and_datetime(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let moment = common::datetime_arg(args, 1)?.add_span(args.span(0))?;
    common::datetime_value(cx, moment)
}

fn spans(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    args.span(0).checked_add(args.span(1)).map(Value::TimeSpan)
}
