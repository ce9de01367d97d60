use super::support::slice_count;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "The elements after the first so many. A negative count is a ValueError, at once.",
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
    let left = slice_count(args.peek(1), false)?;
    let depth = source.depth();
    cx.lazy(Skip { source, left }, depth)
}

struct Skip {
    source: Limited,
    left: u64,
}

impl Lazy for Skip {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        while self.left > 0 {
            self.left -= 1;
            if self.source.next(cx)?.is_none() {
                self.left = 0;
            }
        }
        self.source.next(cx)
    }
}
