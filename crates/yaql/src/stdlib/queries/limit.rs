use super::support::slice_count;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns at most `count` elements from the front; later elements are not evaluated. The result is lazy. Fails immediately with ValueError if the count is negative. `take` is an alias.",
    overloads: &[
        ("m limit(collection: iter, count: int)", limit),
        ("m take(collection: iter, count: int)", limit),
    ],
    examples: &[
        ("[5, 6, 7].limit(2)", "[5, 6]"),
        ("sequence(3).take(4)", "[3, 4, 5, 6]"),
        ("[1].take(9)", "[1]"),
        ("[4, 0].select(8 / $).take(1)", "[2]"),
        ("[1].limit(-1)", "ValueError"),
    ],
    purity: Purity::Pure,
};

fn limit(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let remaining = slice_count(args.peek(1), true)?;
    let depth = source.depth();
    cx.lazy(Limit { source, remaining }, depth)
}

struct Limit {
    source: LimitedCursor,
    remaining: u64,
}

impl Lazy for Limit {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        if self.remaining == 0 {
            return Ok(None);
        }
        let item = self.source.next(cx)?;
        self.remaining = if item.is_some() { self.remaining - 1 } else { 0 };
        Ok(item)
    }
}
