use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The year.",
    overloads: &[("f #property#year(obj: datetime)", year)],
    examples: &[("datetime(2021, 6, 30).year", "2021"), ("timespan(1).year", "NoMatchingFunctionException")],
    purity: Purity::Pure,
};

fn year(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Int(common::datetime_arg(args, 0)?.year()))
}
