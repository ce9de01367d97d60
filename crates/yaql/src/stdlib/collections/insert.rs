use super::edit::{New, insert_at};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns a list with a value inserted before the element at a position. Negative positions count from the end, and positions out of range are clamped. On a collection that is not a list, the result is lazy and a negative position inserts nothing. Sets have no positions and are not accepted.",
    overloads: &[
        ("m insert(collection: iter-not-set, position: int, value: any)", into_lazy),
        ("m insert(collection: seq, position: int, value: any)", into_list),
    ],
    examples: &[
        ("[a, b].insert(1, x)", "[\"a\", \"x\", \"b\"]"),
        ("[a, b].insert(-1, x)", "[\"a\", \"x\", \"b\"]"),
        ("[a, b].insert(7, x)", "[\"a\", \"b\", \"x\"]"),
        ("{k => a}.values().insert(0, x)", "[\"x\", \"a\"]"),
        ("{k => a}.values().insert(-1, x)", "[\"a\"]"),
        ("set(a).insert(0, x)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn into_lazy(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let value = args.value(2);
    insert_at(cx, source, args.int(1), New::One(Some(value)), false)
}

fn into_list(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    if let Value::BigInt(_) = args.peek(1) {
        return Err(Box::new(Error::overflow("Python int too large to convert to C ssize_t")));
    }
    let seq = args.seq(0);
    let position = args.int(1);
    let from_start = if position < 0 { position.saturating_add_unsigned(seq.len() as u64) } else { position };
    let at = usize::try_from(from_start).unwrap_or(0).min(seq.len());
    let (before, after) = seq.split_at(at);
    let mut items = Vec::with_capacity(seq.len() + 1);
    items.extend_from_slice(before);
    items.push(args.value(2));
    items.extend_from_slice(after);
    cx.list(items)
}
