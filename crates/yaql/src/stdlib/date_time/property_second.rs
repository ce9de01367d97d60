use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The second, 0 to 59.",
    overloads: &[("f #property#second(obj: datetime)", second)],
    examples: &[("datetime('2021-06-30 21:05:07').second", "7")],
    purity: Purity::Pure,
};

fn second(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Int(common::datetime_arg(args, 0)?.second()))
}
