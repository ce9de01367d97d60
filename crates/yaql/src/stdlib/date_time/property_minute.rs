use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The minute, 0 to 59.",
    overloads: &[("f #property#minute(obj: datetime)", minute)],
    examples: &[("datetime('2021-06-30 21:05:07').minute", "5")],
    purity: Purity::Pure,
};

fn minute(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Int(common::datetime_arg(args, 0)?.minute()))
}
