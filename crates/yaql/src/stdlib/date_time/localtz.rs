use crate::moment::TimeSpan;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Returns the UTC offset of the local time zone.",
    overloads: &[("f localtz()", localtz)],
    examples: &[("isTimespan(localtz())", "true"), ("localtz() < timespan(1)", "true")],
    purity: Purity::Impure,
};

fn localtz(cx: &mut Cx<'_>, _: &mut Args<'_>) -> Result<Value> {
    let seconds = i128::from(cx.host.local_offset_seconds());
    TimeSpan::from_micros(seconds * 1_000_000).map(Value::TimeSpan)
}
