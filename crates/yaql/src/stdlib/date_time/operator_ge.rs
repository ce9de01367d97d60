use std::cmp::Ordering;

use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Reports whether the left datetime is at or after the right one, compared by instant, or the left timespan is at least as long as the right one.",
    overloads: &[
        ("f #operator_>=(dt1: datetime, dt2: datetime)", datetimes),
        ("f #operator_>=(ts1: timespan, ts2: timespan)", spans),
    ],
    examples: &[("datetime(5) >= datetime(5)", "true"), ("timespan(hours => 23) >= timespan(1)", "false")],
    purity: Purity::Pure,
};

fn datetimes(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    common::compare_datetimes(args, Ordering::is_ge)
}

fn spans(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(args.span(0) >= args.span(1)))
}
