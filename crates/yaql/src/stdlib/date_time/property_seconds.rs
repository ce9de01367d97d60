use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The total length of a timespan in seconds, as a float.",
    overloads: &[("f #property#seconds(obj: timespan)", seconds)],
    examples: &[
        ("timespan(milliseconds => 1250).seconds", "1.25"),
        ("(datetime(60) - datetime(0)).seconds", "60.0"),
    ],
    purity: Purity::Pure,
};

fn seconds(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Float(args.span(0).seconds()))
}
