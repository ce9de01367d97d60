use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The total length of a timespan in days, as a float.",
    overloads: &[("f #property#days(obj: timespan)", days)],
    examples: &[
        ("timespan(hours => 6).days", "0.25"),
        ("timespan(-2).days", "-2.0"),
        ("'7'.days", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn days(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Float(args.span(0).days()))
}
