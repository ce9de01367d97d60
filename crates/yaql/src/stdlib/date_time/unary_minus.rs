use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Returns the negated timespan.",
    overloads: &[("f #unary_operator_-(ts: timespan)", minus)],
    examples: &[
        ("-timespan(hours => 3)", r#"{"$yaql": "timespan", "us": -10800000000}"#),
        ("-datetime(0)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn minus(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    args.span(0).checked_neg().map(Value::TimeSpan)
}
