use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The UTC offset of the zone, as a timespan.",
    overloads: &[("f #property#offset(obj: datetime)", offset)],
    examples: &[
        (
            "datetime(2021, 6, 30, offset => timespan(minutes => 345)).offset",
            r#"{"$yaql": "timespan", "us": 20700000000}"#,
        ),
        ("datetime(2021, 6, 30).offset", r#"{"$yaql": "timespan", "us": 0}"#),
    ],
    purity: Purity::Pure,
};

fn offset(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    common::datetime_arg(args, 0)?.offset().map(Value::TimeSpan)
}
