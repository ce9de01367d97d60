use super::support::slice_count;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the elements after the first `count` elements. The result is lazy. Fails immediately with ValueError if the count is negative.",
    overloads: &[("m skip(collection: iter, count: int)", skip)],
    examples: &[
        ("[5, 6, 7].skip(2)", "[7]"),
        ("[5].skip(9)", "[]"),
        ("sequence().skip(4).take(2)", "[4, 5]"),
        ("[5].skip(-1)", "ValueError"),
        ("[5].skip(x)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn skip(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let remaining = slice_count(args.peek(1), false)?;
    let depth = source.depth();
    cx.lazy(Skip { source, remaining }, depth)
}

struct Skip {
    source: LimitedCursor,
    remaining: u64,
}

impl Lazy for Skip {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        while self.remaining > 0 {
            self.remaining -= 1;
            if self.source.next(cx)?.is_none() {
                self.remaining = 0;
            }
        }
        self.source.next(cx)
    }
}
