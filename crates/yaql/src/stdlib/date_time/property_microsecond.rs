use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The microsecond, 0 to 999999.",
    overloads: &[("f #property#microsecond(obj: datetime)", microsecond)],
    examples: &[("datetime('2021-06-30 21:05:07.25').microsecond", "250000")],
    purity: Purity::Pure,
};

fn microsecond(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Int(common::datetime_arg(args, 0)?.microsecond()))
}
