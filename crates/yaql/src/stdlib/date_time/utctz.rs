use crate::moment::TimeSpan;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Returns the UTC offset of UTC, a zero timespan.",
    overloads: &[("f utctz()", utctz)],
    examples: &[("utctz()", r#"{"$yaql": "timespan", "us": 0}"#), ("utctz() = timespan()", "true")],
    purity: Purity::Pure,
};

fn utctz(_: &mut Cx<'_>, _: &mut Args<'_>) -> Result<Value> {
    Ok(Value::TimeSpan(TimeSpan::ZERO))
}
