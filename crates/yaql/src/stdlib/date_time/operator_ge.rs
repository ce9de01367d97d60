use std::cmp::Ordering;

use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Whether the left datetime is no earlier than the right one, by the instant, or the left timespan is no shorter.",
    overloads: &[
        ("f #operator_>=(dt1: datetime, dt2: datetime)", datetimes),
        ("f #operator_>=(ts1: timespan, ts2: timespan)", spans),
    ],
    examples: &[("datetime(5) >= datetime(5)", "true"), ("timespan(hours => 23) >= timespan(1)", "false")],
    purity: Purity::Pure,
};

fn datetimes(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    common::compare_moments(args, Ordering::is_ge)
}

fn spans(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(args.span(0) >= args.span(1)))
}
