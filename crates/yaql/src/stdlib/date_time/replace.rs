use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Returns a datetime with some fields replaced. Fields that are omitted or null are unchanged. A new offset changes the zone but not the clock. Fails with ValueError if a field is out of range.",
    overloads: &[(
        "m replace(dt: datetime, year: int? = null, month: int? = null, day: int? = null, hour: int? = null, minute: int? = null, second: int? = null, microsecond: int? = null, offset: timespan? = null)",
        replace,
    )],
    examples: &[
        (
            "datetime(2021, 6, 30, 8).replace(month => 2, day => 28)",
            r#"{"$yaql": "datetime", "value": "2021-02-28T08:00:00+00:00"}"#,
        ),
        (
            "datetime(2021, 6, 30, 8).replace(2020, hour => null)",
            r#"{"$yaql": "datetime", "value": "2020-06-30T08:00:00+00:00"}"#,
        ),
        (
            "datetime(2021, 6, 30, 8).replace(offset => timespan(hours => 5))",
            r#"{"$yaql": "datetime", "value": "2021-06-30T08:00:00+05:00"}"#,
        ),
        ("datetime(2021, 6, 30).replace(month => 2)", "ValueError"),
    ],
    purity: Purity::Pure,
};

fn replace(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let changes = std::array::from_fn(|index| common::field(args.peek(index + 1)));
    let offset = match args.peek(8) {
        Value::TimeSpan(offset) => Some(*offset),
        _ => None,
    };
    let moment = common::datetime_arg(args, 0)?.replace(changes, offset)?;
    common::datetime_value(cx, moment)
}
