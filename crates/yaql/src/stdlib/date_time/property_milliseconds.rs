use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The total length of a timespan in milliseconds, as a float.",
    overloads: &[("f #property#milliseconds(obj: timespan)", milliseconds)],
    examples: &[
        ("timespan(microseconds => 2500).milliseconds", "2.5"),
        ("timespan(1).milliseconds", "86400000.0"),
    ],
    purity: Purity::Pure,
};

fn milliseconds(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Float(args.span(0).milliseconds()))
}
