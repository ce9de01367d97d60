use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Subtracts a timespan from a datetime, or returns the timespan between two datetimes (compared by instant), or the difference of two timespans.",
    overloads: &[
        ("f #operator_-(dt: datetime, ts: timespan)", datetime_and_span),
        ("f #operator_-(dt1: datetime, dt2: datetime)", datetimes),
        ("f #operator_-(ts1: timespan, ts2: timespan)", spans),
    ],
    examples: &[
        (
            "datetime(2021, 3, 1) - timespan(1)",
            r#"{"$yaql": "datetime", "value": "2021-02-28T00:00:00+00:00"}"#,
        ),
        (
            "datetime('2021-06-30T02:00+02:00') - datetime(2021, 6, 29)",
            r#"{"$yaql": "timespan", "us": 86400000000}"#,
        ),
        ("timespan(1) - timespan(hours => 25)", r#"{"$yaql": "timespan", "us": -3600000000}"#),
        ("timespan(1) - datetime(0)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn datetime_and_span(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let moment = common::datetime_arg(args, 0)?.sub_span(args.span(1))?;
    common::datetime_value(cx, moment)
}

fn datetimes(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    common::datetime_arg(args, 0)?.since(common::datetime_arg(args, 1)?).map(Value::TimeSpan)
}

fn spans(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    args.span(0).checked_sub(args.span(1)).map(Value::TimeSpan)
}
