use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The datetime with its clock converted to UTC. For compatibility with the reference implementation the zone is not changed, so for other zones the result is a different instant.",
    overloads: &[("f #property#utc(obj: datetime)", utc)],
    examples: &[
        (
            "datetime('2021-06-30T21:05:07+02:00').utc",
            r#"{"$yaql": "datetime", "value": "2021-06-30T19:05:07+02:00"}"#,
        ),
        ("datetime(2021, 6, 30).utc = datetime(2021, 6, 30)", "true"),
    ],
    purity: Purity::Pure,
};

fn utc(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let moment = common::datetime_arg(args, 0)?.utc()?;
    common::datetime_value(cx, moment)
}
