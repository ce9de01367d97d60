use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "A datetime less a timespan is the datetime that much earlier; a datetime less another is the timespan between the two instants; a timespan less another is their difference.",
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
    let moment = common::taken(args, 0)?.sub_span(args.span(1))?;
    common::moment(cx, moment)
}

fn datetimes(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    common::taken(args, 0)?.since(common::taken(args, 1)?).map(Value::TimeSpan)
}

fn spans(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    args.span(0).checked_sub(args.span(1)).map(Value::TimeSpan)
}
