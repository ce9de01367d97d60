use std::sync::Arc;

use super::support::collect;
use crate::stdlib::prelude::*;
use crate::value::Seq;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the elements in reverse order. Collects the whole collection; the result is an iterator.",
    overloads: &[("m reverse(collection: iter)", reverse)],
    examples: &[
        ("[1, 2, 3].reverse()", "[3, 2, 1]"),
        ("range(5).reverse().first()", "4"),
        ("[].reverse()", "[]"),
        ("sequence().reverse()", "CollectionTooLargeException"),
        ("abc.reverse()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn reverse(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let items = collect(cx, args.value(0))?;
    let depth = items.meta().depth;
    cx.lazy(Reverse { remaining: items.len(), items }, depth)
}

struct Reverse {
    items: Arc<Seq>,
    remaining: usize,
}

impl Lazy for Reverse {
    fn next(&mut self, _: &mut Cx<'_>) -> Result<Option<Value>> {
        let Some(remaining) = self.remaining.checked_sub(1) else { return Ok(None) };
        self.remaining = remaining;
        Ok(self.items.get(remaining).cloned())
    }
}
