use super::support::{ToList, slice_count};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the elements in chunks of the given length; the last chunk may be shorter. The result is empty if the length is 0. The result is lazy; it fails with ValueError on iteration if the length is negative.",
    overloads: &[("m slice(collection: iter, length: int)", slice)],
    examples: &[
        ("range(5).slice(2)", "[[0, 1], [2, 3], [4]]"),
        ("[a, b].slice(9)", r#"[["a", "b"]]"#),
        ("[a, b].slice(0)", "[]"),
        ("sequence().slice(3).skip(1).first()", "[3, 4, 5]"),
        ("[a].slice(-1)", "ValueError"),
    ],
    purity: Purity::Pure,
};

fn slice(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let to_list = ToList::new(cx, args.ctx)?;
    let depth = source.depth();
    cx.lazy(Slice { source: Some(source), length: args.value(1), to_list }, depth)
}

struct Slice {
    /// Source of the elements; `None` after the end.
    source: Option<LimitedCursor>,
    /// Validated on iteration, as in Python YAQL.
    length: Value,
    to_list: ToList,
}

impl Lazy for Slice {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let Some(source) = &mut self.source else { return Ok(None) };
        let length = slice_count(&self.length, true)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let mut items = Vec::with_capacity(length.min(source.size_hint()));
        while items.len() < length {
            let Some(item) = source.next(cx)? else { break };
            cx.charge(24)?;
            items.push(item);
            cx.check_bytes(40 + 8 * items.len() as u64)?;
        }
        if items.is_empty() {
            self.source = None;
            return Ok(None);
        }
        self.to_list.make(cx, items).map(Some)
    }
}
