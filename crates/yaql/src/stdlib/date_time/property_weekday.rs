use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The day of the week, from 0 for Monday to 6 for Sunday.",
    overloads: &[("f #property#weekday(obj: datetime)", weekday)],
    examples: &[("datetime(2021, 6, 30).weekday", "2"), ("datetime(2021, 7, 4).weekday", "6")],
    purity: Purity::Pure,
};

fn weekday(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Int(common::datetime_arg(args, 0)?.weekday()))
}
