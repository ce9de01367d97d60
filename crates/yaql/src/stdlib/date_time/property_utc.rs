use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The clock reading of UTC. As in the reference the zone stays what it was, so that for other zones the result is another instant.",
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
    let moment = common::taken(args, 0)?.utc()?;
    common::moment(cx, moment)
}
