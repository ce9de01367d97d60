use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "The total length of a timespan in minutes, as a float.",
    overloads: &[("f #property#minutes(obj: timespan)", minutes)],
    examples: &[("timespan(seconds => 90).minutes", "1.5")],
    purity: Purity::Pure,
};

fn minutes(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Float(args.span(0).minutes()))
}
