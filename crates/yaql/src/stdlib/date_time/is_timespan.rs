use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Reports whether a value is a timespan.",
    overloads: &[("f isTimespan(value: any)", is_timespan)],
    examples: &[
        ("isTimespan(timespan(1))", "true"),
        ("isTimespan(86400)", "false"),
        ("isTimespan(datetime(0) - datetime(1))", "true"),
    ],
    purity: Purity::Pure,
};

fn is_timespan(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(matches!(args.peek(0), Value::TimeSpan(_))))
}
