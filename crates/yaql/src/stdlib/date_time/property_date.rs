use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Midnight of the same day, in the same zone.",
    overloads: &[("f #property#date(obj: datetime)", date)],
    examples: &[
        (
            "datetime('2021-06-30T21:05:07+02:00').date",
            r#"{"$yaql": "datetime", "value": "2021-06-30T00:00:00+02:00"}"#,
        ),
        ("datetime(2021, 6, 30, 1).date = datetime(2021, 6, 30)", "true"),
    ],
    purity: Purity::Pure,
};

fn date(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let moment = common::datetime_arg(args, 0)?.date();
    common::datetime_value(cx, moment)
}
