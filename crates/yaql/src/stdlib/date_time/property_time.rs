use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The time since midnight, as a timespan.",
    overloads: &[("f #property#time(obj: datetime)", time)],
    examples: &[
        ("datetime('2021-06-30 21:05:07').time", r#"{"$yaql": "timespan", "us": 75907000000}"#),
        ("datetime(2021, 6, 30).time = timespan()", "true"),
    ],
    purity: Purity::Pure,
};

fn time(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::TimeSpan(common::datetime_arg(args, 0)?.time()))
}
