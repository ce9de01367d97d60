use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The month, 1 to 12.",
    overloads: &[("f #property#month(obj: datetime)", month)],
    examples: &[("datetime(2021, 6, 30).month", "6")],
    purity: Purity::Pure,
};

fn month(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Int(common::datetime_arg(args, 0)?.month()))
}
