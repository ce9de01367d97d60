use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Reports whether a value is a datetime.",
    overloads: &[("f isDatetime(value: any)", is_datetime)],
    examples: &[
        ("isDatetime(datetime('1 May 2020'))", "true"),
        ("isDatetime('1 May 2020')", "false"),
        ("isDatetime(timespan(1))", "false"),
    ],
    purity: Purity::Pure,
};

fn is_datetime(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(matches!(args.peek(0), Value::DateTime(_))))
}
