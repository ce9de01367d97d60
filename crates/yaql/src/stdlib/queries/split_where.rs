use super::support::{Parts, ToList};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Splits a collection at the elements for which the predicate is true and omits those elements. An empty part at the end is omitted, other empty parts are not. The result is lazy.",
    overloads: &[("m splitWhere(collection: iter, predicate: lambda)", split_where)],
    examples: &[
        ("[1, 2, 0, 3].splitWhere($ = 0)", "[[1, 2], [3]]"),
        ("[0, 1, 0, 0].splitWhere($ = 0)", "[[], [1], []]"),
        ("[1].splitWhere(false)", "[[1]]"),
        ("[].splitWhere(true)", "[]"),
    ],
    purity: Purity::Pure,
};

fn split_where(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = args.value(0);
    let predicate = args.lambda(1);
    let to_list = ToList::new(cx, args.ctx)?;
    let depth = source.depth().max(predicate.depth());
    cx.lazy(SplitWhere { parts: Parts::new(source, to_list), predicate }, depth)
}

struct SplitWhere {
    parts: Parts,
    predicate: Lambda,
}

impl Lazy for SplitWhere {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        while let Some(item) = self.parts.current(cx)? {
            if self.predicate.test1(cx, item)? {
                return self.parts.cut_at(cx).map(Some);
            }
            self.parts.advance();
        }
        self.parts.rest(cx)
    }
}
