use std::cmp::Ordering;

use super::common;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "date_time",
    doc: "Whether the left datetime is no later than the right one, by the instant, or the left timespan is no longer.",
    overloads: &[
        ("f #operator_<=(dt1: datetime, dt2: datetime)", datetimes),
        ("f #operator_<=(ts1: timespan, ts2: timespan)", spans),
    ],
    examples: &[
        ("datetime('2021-06-30T02:00+02:00') <= datetime(2021, 6, 30)", "true"),
        ("timespan(2) <= timespan(1)", "false"),
    ],
    purity: Purity::Pure,
};

fn datetimes(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    common::compare_moments(args, Ordering::is_le)
}

fn spans(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(args.span(0) <= args.span(1)))
}
