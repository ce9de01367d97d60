use super::support::{ToList, collect};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Splits a collection at an index and returns the two parts. A negative index counts from the end; an index out of range yields an empty part.",
    overloads: &[("m splitAt(collection: iter, index: int)", split_at)],
    examples: &[
        ("[4, 5, 6].splitAt(1)", "[[4], [5, 6]]"),
        ("range(4).splitAt(-1)", "[[0, 1, 2], [3]]"),
        ("[4].splitAt(9)", "[[4], []]"),
        ("[4].splitAt(x)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn split_at(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let items = collect(cx, args.value(0))?;
    let to_list = ToList::new(cx, args.ctx)?;
    let index = args.int(1);
    let from_end = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    let at = if index < 0 { items.len().saturating_sub(from_end) } else { items.len().min(from_end) };
    let (before, rest) = items.split_at(at);
    let before = to_list.make(cx, before.to_vec())?;
    let rest = to_list.make(cx, rest.to_vec())?;
    cx.list(vec![before, rest])
}
