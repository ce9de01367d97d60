use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The hour, 0 to 23.",
    overloads: &[("f #property#hour(obj: datetime)", hour)],
    examples: &[("datetime('2021-06-30 21:05:07').hour", "21")],
    purity: Purity::Pure,
};

fn hour(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Int(common::datetime_arg(args, 0)?.hour()))
}
