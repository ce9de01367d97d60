use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The day of the month, 1 to 31.",
    overloads: &[("f #property#day(obj: datetime)", day)],
    examples: &[("datetime(2021, 6, 30).day", "30"), ("'2021-06-30'.day", "NoMatchingFunctionException")],
    purity: Purity::Pure,
};

fn day(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Int(common::datetime_arg(args, 0)?.day()))
}
