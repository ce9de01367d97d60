use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The total length of a timespan in microseconds, as an integer.",
    overloads: &[("f #property#microseconds(obj: timespan)", microseconds)],
    examples: &[
        ("timespan(hours => 1).microseconds", "3600000000"),
        ("timespan(milliseconds => -1).microseconds", "-1000"),
    ],
    purity: Purity::Pure,
};

fn microseconds(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::int(args.span(0).microseconds().into()))
}
