use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Returns the timespan unchanged.",
    overloads: &[("f #unary_operator_+(ts: timespan)", plus)],
    examples: &[
        ("+timespan(hours => -3)", r#"{"$yaql": "timespan", "us": -10800000000}"#),
        ("+datetime(0)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn plus(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::TimeSpan(args.span(0)))
}
