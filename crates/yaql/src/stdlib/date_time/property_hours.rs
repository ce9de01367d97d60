use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The total length of a timespan in hours, as a float.",
    overloads: &[("f #property#hours(obj: timespan)", hours)],
    examples: &[
        ("timespan(1, minutes => 30).hours", "24.5"),
        ("datetime(0).hours", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn hours(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Float(args.span(0).hours()))
}
