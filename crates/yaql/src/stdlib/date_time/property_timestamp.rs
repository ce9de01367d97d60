use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Seconds since 1970, as a float. Correct only for datetimes in UTC: for compatibility with the reference implementation, the offset of other zones is subtracted twice.",
    overloads: &[("f #property#timestamp(obj: datetime)", timestamp)],
    examples: &[
        ("datetime(2021, 6, 30).timestamp", "1625011200.0"),
        ("datetime(2021, 6, 30, offset => timespan(hours => 1)).timestamp", "1625004000.0"),
    ],
    purity: Purity::Pure,
};

fn timestamp(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    common::datetime_arg(args, 0)?.timestamp().map(Value::Float)
}
